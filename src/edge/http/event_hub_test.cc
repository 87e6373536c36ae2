#include "edge/http/event_hub.h"

#include <gtest/gtest.h>

namespace fairlead::http {
namespace {

struct Recorder : EventHub::Reader {
  bool deliver(const std::string& id, const StreamEvent& event) override {
    if (seen.size() == most) return false;
    seen.push_back(event.name + " " + event.data);
    last_id = id;
    return true;
  }
  std::vector<std::string> seen;
  std::string last_id;
  size_t most = 100'000;
};

StreamEvent event(std::string data, std::string job = "j", std::string tenant = "t",
                  uint64_t revision = 0) {
  return {"e", std::move(job), TenantId(tenant), std::move(data), revision};
}
StreamWish everything() {
  return {true, {}, {}, {}, {}, 0};
}

TEST(EventHub, AReaderGetsWhatItWants) {
  EventHub hub("life");
  Recorder all, tenant, job;
  hub.add(&all, everything(), "");
  hub.add(&tenant, {false, TenantId("t"), {}, {}, {}, 0}, "");
  hub.add(&job, {true, {}, "j", {}, {}, 0}, "");
  hub.publish(event("1"));
  hub.publish(event("2", "k", "u"));
  hub.publish(event("3", "", ""));
  EXPECT_EQ(all.seen.size(), 3u);
  EXPECT_EQ(tenant.seen, std::vector<std::string>{"e 1"});
  EXPECT_EQ(job.seen, std::vector<std::string>{"e 1"});
  hub.remove(&all);
  hub.publish(event("4"));
  EXPECT_EQ(all.seen.size(), 3u);
}

TEST(EventHub, OneWhoReturnsGetsWhatItMissed) {
  EventHub hub("life");
  Recorder first;
  hub.add(&first, everything(), "");
  hub.publish(event("1"));
  hub.remove(&first);
  hub.publish(event("2"));
  hub.publish(event("3"));
  Recorder back;
  hub.add(&back, everything(), first.last_id);
  EXPECT_EQ(back.seen, (std::vector<std::string>{"e 2", "e 3"}));
}

TEST(EventHub, AGapIsTold) {
  EventHub hub("life");
  hub.publish(event("1"));
  Recorder other_life, nonsense, future;
  hub.add(&other_life, everything(), "old-1");
  hub.add(&nonsense, everything(), "life-x");
  hub.add(&future, everything(), "life-999");
  for (const Recorder* reader : {&other_life, &nonsense, &future}) {
    ASSERT_EQ(reader->seen.size(), 2u);
    EXPECT_TRUE(reader->seen[0].starts_with("stream.gap"));
    EXPECT_EQ(reader->seen[1], "e 1");
  }
  for (size_t i = 0; i < limits::kStreamReplayEvents + 10; ++i) hub.publish(event("x"));
  Recorder late;
  hub.add(&late, everything(), "life-1");
  EXPECT_TRUE(late.seen[0].starts_with("stream.gap"));
  EXPECT_EQ(late.seen.size(), 1 + limits::kStreamReplayEvents);
}

TEST(EventHub, WhatIsRememberedIsBoundedByBytesToo) {
  EventHub hub("life");
  for (int i = 0; i < 20; ++i) hub.publish(event(std::string(1 << 20, 'x')));
  Recorder late;
  hub.add(&late, everything(), "life-0");
  EXPECT_LE(late.seen.size(), 1 + limits::kStreamReplayBytes / (1 << 20));
}

TEST(EventHub, AReaderThatFallsBehindIsForgotten) {
  EventHub hub("life");
  Recorder slow;
  slow.most = 2;
  hub.add(&slow, everything(), "");
  for (int i = 0; i < 5; ++i) hub.publish(event("x"));
  EXPECT_EQ(slow.seen.size(), 2u);
  EXPECT_EQ(hub.readers(), 0u);
}

TEST(EventHub, AJobsStreamBeginsWithWhatItIsAndWhatFollowed) {
  EventHub hub("life");
  hub.publish(event("old", "j", "t", 1));
  hub.publish(event("new", "j", "t", 3));
  Recorder reader;
  hub.add(&reader, {false, TenantId("t"), "j", "now", "2", 2}, "");
  EXPECT_EQ(reader.seen, (std::vector<std::string>{"now 2", "e new"}));
}

}  // namespace
}  // namespace fairlead::http
