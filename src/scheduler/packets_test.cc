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

TEST(Packets, OfOlderSdksNeedNoTraceToShowThatAWorkerLives) {
  cap::BusPacket packet = complete();
  packet.clear_trace_id();
  packet.mutable_heartbeat()->set_worker_id("w");
  EXPECT_TRUE(read_packet(job::serialise(packet)));
  packet.mutable_handshake()->set_component_id("w");
  EXPECT_TRUE(read_packet(job::serialise(packet)));
}

}  // namespace
}  // namespace fairlead::scheduler
