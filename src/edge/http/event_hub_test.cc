#include "edge/http/event_hub.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cordum/agent/v1/buspacket.pb.h"

namespace fairlead::http {
namespace {

using Words = std::vector<std::string>;

struct Recorder : EventHub::Reader {
  void events_wait() override { ++woken; }
  void left_behind() override { gone = true; }

  // Takes what there is; of a commit its revision is told, of others their name.
  Words take(EventHub& hub, size_t most = 1'000'000) {
    Words all;
    while (all.size() < most) {
      auto told = hub.next(this);
      if (!told) break;
      last_id = told->id;
      json::value data = json::parse(told->event->data);
      const json::value* revision = data.as_object().if_contains("revision");
      all.push_back(revision ? std::to_string(revision->to_number<int>()) : told->event->name);
    }
    return all;
  }

  int woken = 0;
  bool gone = false;
  std::string last_id;
};

// As the tap numbers them.
uint64_t next_tapped() {
  static uint64_t tapped = 0;
  return ++tapped;
}
TappedEvent commit(uint64_t revision, const char* job = "j", const char* tenant = "t",
                   std::string text = {}) {
  auto record = std::make_shared<job::Record>();
  record->id = JobId(job);
  record->tenant = TenantId(tenant);
  record->revision = Revision(revision);
  record->error_message = std::move(text);
  return {.record = std::move(record), .tapped = next_tapped()};
}
TappedEvent heartbeat(size_t bytes = 0) {
  cordum::agent::v1::BusPacket packet;
  packet.mutable_heartbeat()->set_worker_id("w");
  packet.mutable_heartbeat()->set_region(std::string(bytes, 'x'));
  return {.kind = TappedEvent::Kind::kPacket,
          .bytes = packet.SerializeAsString(),
          .passing = true,
          .tapped = next_tapped()};
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
  hub.publish(commit(1));
  hub.publish(commit(2, "k", "u"));
  hub.publish(heartbeat());
  EXPECT_EQ(all.take(hub), (Words{"1", "2", "worker.heartbeat"}));
  EXPECT_EQ(tenant.take(hub), Words{"1"});
  EXPECT_EQ(job.take(hub), Words{"1"});
  EXPECT_EQ(tenant.woken, 1);
  hub.remove(&all);
  hub.publish(commit(4));
  EXPECT_EQ(all.take(hub), Words{});
}

TEST(EventHub, AReaderIsWokenForWhatItWantsOnceItHasTakenAllBefore) {
  EventHub hub("life");
  Recorder reader;
  hub.add(&reader, everything(), "");
  for (int i = 1; i <= 3; ++i) hub.publish(commit(i));
  EXPECT_EQ(reader.woken, 1);
  EXPECT_EQ(reader.take(hub).size(), 3u);
  hub.publish(commit(4));
  EXPECT_EQ(reader.woken, 2);
}

TEST(EventHub, OneWhoReturnsGetsWhatItMissed) {
  EventHub hub("life");
  Recorder first;
  hub.add(&first, everything(), "");
  hub.publish(commit(1));
  EXPECT_EQ(first.take(hub), Words{"1"});
  hub.remove(&first);
  hub.publish(commit(2));
  hub.publish(commit(3));
  Recorder back;
  hub.add(&back, everything(), first.last_id);
  EXPECT_EQ(back.take(hub), (Words{"2", "3"}));
}

TEST(EventHub, OneWhoMissedManyGetsThemAllWhileMoreHappen) {
  EventHub hub("life");
  for (int i = 1; i <= 5000; ++i) hub.publish(commit(i));
  Recorder back;
  hub.add(&back, everything(), "life-1");
  Words all;
  for (int more = 5001; more <= 6000; ++more) {
    hub.publish(commit(more));
    for (std::string& one : back.take(hub, 10)) all.push_back(std::move(one));
  }
  for (std::string& one : back.take(hub)) all.push_back(std::move(one));
  ASSERT_EQ(all.size(), 5999u);
  for (int i = 0; i < 5999; ++i) EXPECT_EQ(all[i], std::to_string(i + 2));
  EXPECT_FALSE(back.gone);
}

TEST(EventHub, AGapIsTold) {
  EventHub hub("life");
  hub.publish(commit(1));
  Recorder other_life, nonsense, future;
  hub.add(&other_life, everything(), "old-1");
  hub.add(&nonsense, everything(), "life-x");
  hub.add(&future, everything(), "life-999");
  for (Recorder* reader : {&other_life, &nonsense, &future}) {
    EXPECT_EQ(reader->take(hub), (Words{"stream.gap", "1"}));
  }
}

TEST(EventHub, AGapIsToldWhenNobodyListenedForAWhile) {
  EventHub hub("life");
  Recorder reader;
  hub.add(&reader, everything(), "");
  hub.publish(commit(1));
  EXPECT_EQ(reader.take(hub), Words{"1"});
  hub.remove(&reader);
  hub.forget();
  Recorder back;
  hub.add(&back, everything(), reader.last_id);
  hub.publish(commit(9));
  EXPECT_EQ(back.take(hub), (Words{"stream.gap", "9"}));
  Recorder again;
  hub.add(&again, everything(), back.last_id);
  EXPECT_EQ(again.take(hub), Words{});
}

TEST(EventHub, EveryReaderIsToldOfEventsThatWereLostOnTheWay) {
  EventHub hub("life");
  Recorder all, job;
  hub.add(&all, everything(), "");
  hub.add(&job, {false, TenantId("t"), "j", {}, {}, 0}, "");
  hub.publish({.kind = TappedEvent::Kind::kGap});
  EXPECT_EQ(all.take(hub), Words{"stream.gap"});
  EXPECT_EQ(job.take(hub), Words{"stream.gap"});
}

TEST(EventHub, AGapInAJobsStreamIsFollowedByWhatTheJobIsNow) {
  EventHub hub("life");
  const StreamWish wish{false, TenantId("t"), "j", "now", "{}", 2};
  hub.publish(commit(1));
  hub.publish(commit(2));
  Recorder other_life;
  hub.add(&other_life, wish, "old-7");
  hub.publish(commit(3));
  EXPECT_EQ(other_life.take(hub), (Words{"stream.gap", "now", "3"}));
  Recorder goes_on;
  hub.add(&goes_on, wish, other_life.last_id);
  EXPECT_EQ(goes_on.take(hub), Words{}) << "it has missed nothing";
}

TEST(EventHub, OneWhoLeavesBetweenAGapAndTheJobsStateIsToldBothAgain) {
  EventHub hub("life");
  const StreamWish wish{false, TenantId("t"), "j", "now", "{}", 2};
  Recorder reader, back;
  hub.add(&reader, wish, "old-7");
  EXPECT_EQ(reader.take(hub, 1), Words{"stream.gap"});
  hub.add(&back, wish, reader.last_id);
  EXPECT_EQ(back.take(hub), (Words{"stream.gap", "now"}));
}

TEST(EventHub, WhoReadsOfAJobComesBackWhenEventsAreLostAndIsToldWhatTheJobIs) {
  EventHub hub("life");
  Recorder reader;
  hub.add(&reader, {false, TenantId("t"), "j", "now", "{}", 2}, "");
  EXPECT_EQ(reader.take(hub), Words{"now"});
  hub.publish({.kind = TappedEvent::Kind::kGap});
  EXPECT_TRUE(reader.gone);
  EXPECT_EQ(hub.readers(), 0u);
  Recorder back, later;
  hub.add(&back, {false, TenantId("t"), "j", "now", "{}", 5}, reader.last_id);
  EXPECT_EQ(back.take(hub), (Words{"stream.gap", "now"}));
  hub.add(&later, {false, TenantId("t"), "j", "now", "{}", 5}, "");
  EXPECT_EQ(later.take(hub), Words{"now"}) << "what was lost before is nothing to it";
}

TEST(EventHub, WhatIsRememberedIsBoundedByBytes) {
  EventHub hub("life");
  constexpr int kMegabytes = 2 * (limits::kStreamReplayBytes >> 20);
  for (int i = 1; i <= kMegabytes; ++i) {
    hub.publish(commit(i, "j", "t", std::string(1 << 20, 'x')));
  }
  Recorder late;
  hub.add(&late, everything(), "life-1");
  Words got = late.take(hub);
  EXPECT_EQ(got.front(), "stream.gap");
  EXPECT_EQ(got.back(), std::to_string(kMegabytes));
  EXPECT_GT(got.size(), 30u);
  EXPECT_LE(got.size(), 1 + (limits::kStreamReplayBytes >> 20));
}

TEST(EventHub, AReaderWhoseNextEventIsForgottenIsLeftBehind) {
  EventHub hub("life");
  Recorder slow, other;
  hub.add(&slow, everything(), "");
  hub.add(&other, {true, {}, "another", {}, {}, 0}, "");
  for (int i = 0; i < 100 && !slow.gone; ++i) {
    hub.publish(commit(1, "j", "t", std::string(1 << 20, 'x')));
  }
  EXPECT_TRUE(slow.gone);
  EXPECT_FALSE(other.gone) << "it wanted none of them";
  EXPECT_EQ(hub.readers(), 1u);
  EXPECT_EQ(slow.take(hub), Words{});
}

TEST(EventHub, HeartbeatsPushNothingOutAndHurtNobody) {
  EventHub hub("life");
  Recorder slow;
  hub.add(&slow, everything(), "");
  hub.publish(commit(1));
  for (size_t i = 0; i < 2 * (limits::kStreamReplayBytes >> 16); ++i)
    hub.publish(heartbeat(1 << 16));
  EXPECT_FALSE(slow.gone);
  Words got = slow.take(hub);
  EXPECT_EQ(got.front(), "1");
  EXPECT_LT(got.size(), 2 + (limits::kStreamPassingBytes >> 15)) << "old ones are left out";
  Recorder back;
  hub.add(&back, everything(), "life-1");
  EXPECT_NE(back.take(hub, 1), Words{"stream.gap"});
}

TEST(EventHub, AJobsStreamBeginsWithWhatItIsAndWhatFollowed) {
  EventHub hub("life");
  hub.publish(commit(1));
  hub.publish(commit(3));
  Recorder reader;
  hub.add(&reader, {false, TenantId("t"), "j", "now", "{}", 2}, "");
  hub.publish(commit(4));
  EXPECT_EQ(reader.take(hub), (Words{"now", "3", "4"}));
}

TEST(EventHub, AJobsStreamIsOpenedWithoutALookAtWhatWasBefore) {
  EventHub hub("life");
  for (int i = 0; i < 10'000; ++i) {
    hub.publish(commit(1, "another"));
    hub.publish(heartbeat());
  }
  const uint64_t before = next_tapped();
  hub.publish(commit(3));
  hub.publish(heartbeat());
  Recorder reader;
  StreamWish wish{false, TenantId("t"), "j", "now", "{}", 2};
  wish.tapped_before = before;
  hub.add(&reader, wish, "");
  EXPECT_EQ(reader.take(hub), (Words{"now", "3"}));
  EXPECT_LE(hub.looks(), 4u);
}

}  // namespace
}  // namespace fairlead::http
