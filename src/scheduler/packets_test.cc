#include "scheduler/packets.h"

#include <gtest/gtest.h>

#include "job/request.h"

namespace fairlead::scheduler {
namespace {

cap::BusPacket complete() {
  cap::BusPacket packet;
  packet.set_trace_id("trace");
  packet.set_sender_id("sender");
  packet.mutable_job_request()->set_job_id("job");
  return packet;
}

TEST(Packets, NeedTraceSenderAndPayload) {
  EXPECT_TRUE(read_packet(job::serialise(complete())));
  cap::BusPacket packet = complete();
  packet.set_trace_id(" ");
  EXPECT_EQ(read_packet(job::serialise(packet)).error().message, "trace_id is missing");
  packet = complete();
  packet.clear_sender_id();
  EXPECT_EQ(read_packet(job::serialise(packet)).error().message, "sender_id is missing");
  packet = complete();
  packet.clear_job_request();
  EXPECT_EQ(read_packet(job::serialise(packet)).error().message, "payload is missing");
  EXPECT_EQ(read_packet("\xff").error().message, "not a BusPacket");
}

TEST(Packets, ThatAreRefusedSayWhetherTheyWerePackets) {
  cap::BusPacket packet = complete();
  packet.clear_sender_id();
  EXPECT_STREQ(unreadable_because(job::serialise(packet)), "invalid");
  EXPECT_STREQ(unreadable_because("\xff"), "unmarshal");
}

TEST(Packets, OfOlderSdksNeedNoTraceToShowThatAWorkerLives) {
  cap::BusPacket packet = complete();
  packet.clear_trace_id();
  packet.mutable_heartbeat()->set_worker_id("w");
  EXPECT_TRUE(read_packet(job::serialise(packet)));
  packet.mutable_handshake()->set_component_id("w");
  EXPECT_TRUE(read_packet(job::serialise(packet)));
}

TEST(Packets, AHandshakeSaysThatASchedulerIsThere) {
  Result<Packet> packet = read_packet(handshake_packet("trace", WallTime()));
  ASSERT_TRUE(packet);
  EXPECT_EQ((*packet)->sender_id(), "scheduler");
  EXPECT_EQ((*packet)->handshake().component_id(), "scheduler");
  EXPECT_EQ((*packet)->handshake().role(), cap::COMPONENT_ROLE_SCHEDULER);
}

TEST(Packets, ANoticeOfChangedConfigurationIsKnownAmongAlerts) {
  Result<Packet> packet = read_packet(config_changed_packet("system", "default", WallTime()));
  ASSERT_TRUE(packet);
  EXPECT_TRUE(is_config_changed(**packet));
  EXPECT_EQ((*packet)->alert().details().at("scope_id"), "default");
  (*packet)->mutable_alert()->set_message("something else");
  EXPECT_FALSE(is_config_changed(**packet));
  EXPECT_FALSE(is_config_changed(complete()));
}

}  // namespace
}  // namespace fairlead::scheduler
