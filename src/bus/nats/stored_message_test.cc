#include "bus/nats/stored_message.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace fairlead::bus::nats {
namespace {

std::optional<StoredMessage> read(const char* text) {
  return read_stored_message(boost::json::parse(text).as_object());
}

TEST(StoredMessage, IsReadFromTheAnswerOfTheServer) {
  auto message = read(R"({"message":{"subject":"sys.job.submit","seq":7,"data":"eDM=",
      "hdrs":"TkFUUy8xLjANCg0K","time":"2026-11-16T16:50:24.077286906Z"}})");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->sequence, Sequence(7));
  EXPECT_EQ(message->subject, "sys.job.submit");
  EXPECT_EQ(message->payload, "x3");
  EXPECT_EQ(message->headers, "NATS/1.0\r\n\r\n");
  EXPECT_EQ(to_micros(message->stored_at), 1'794'847'824'077'286);
}

TEST(StoredMessage, MayHaveNoPayloadAndAWholeSecond) {
  auto message = read(R"({"message":{"subject":"a","seq":1,"time":"1970-01-01T00:00:01Z"}})");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->payload, "");
  EXPECT_EQ(to_micros(message->stored_at), 1'000'000);
}

TEST(StoredMessage, IsNothingWhenItIsNotReadable) {
  EXPECT_FALSE(read("{}"));
  EXPECT_FALSE(
      read(R"({"message":{"subject":"a","seq":1,"data":"???","time":"1970-01-01T00:00:01Z"}})"));
  EXPECT_FALSE(read(R"({"message":{"subject":"a","seq":1,"data":"eDM=","time":"yesterday"}})"));
  EXPECT_FALSE(read(R"({"message":{"subject":"a","data":"eDM=","time":"1970-01-01T00:00:01Z"}})"));
}

TEST(DeliveryPlace, IsReadFromTheSubjectOfTheAcknowledgement) {
  auto place = read_delivery_place("$JS.ACK.CORDUM_SYS.dur_x.3.6.5.1794847824079154549.11");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->deliveries, 3u);
  EXPECT_EQ(place->sequence, Sequence(6));
  EXPECT_EQ(to_micros(place->stored_at), 1'794'847'824'079'154);
  EXPECT_EQ(place->pending, 11u);
  EXPECT_EQ(place->consumer, "dur_x");
}

TEST(DeliveryPlace, IsReadBehindDomainAndAccountToo) {
  auto place =
      read_delivery_place("$JS.ACK.hub.hash.CORDUM_SYS.dur_x.3.6.5.1794847824079154549.11.t");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->deliveries, 3u);
  EXPECT_EQ(place->sequence, Sequence(6));
  EXPECT_EQ(place->pending, 11u);
}

TEST(DeliveryPlace, IsNothingOnOtherSubjects) {
  for (const char* subject : {"", "_INBOX.1.2", "$JS.ACK.a.b", "$JS.ACK.s.c.x.6.5.1.11"}) {
    EXPECT_FALSE(read_delivery_place(subject)) << subject;
  }
}

TEST(Header, IsFoundByItsName) {
  const std::string_view block = "NATS/1.0\r\nA: 1\r\nNats-Msg-Id: jobreq:j:1\r\n\r\n";
  EXPECT_EQ(header_in(block, "Nats-Msg-Id"), "jobreq:j:1");
  EXPECT_EQ(header_in(block, "Nats-Msg"), "");
  EXPECT_EQ(header_in("", "A"), "");
}

}  // namespace
}  // namespace fairlead::bus::nats
