#include <random>

#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "cordum/agent/v1/buspacket.pb.h"
#include "job/request.h"
#include "job/wire_fields.h"

namespace fairlead::job {
namespace {

using Random = std::mt19937_64;

uint64_t below(Random& random, uint64_t bound) {
  return random() % bound;
}

std::string parsed_job_id(const cap::BusPacket& packet) {
  if (packet.has_job_request()) return packet.job_request().job_id();
  if (packet.has_job_result()) return packet.job_result().job_id();
  if (packet.has_job_progress()) return packet.job_progress().job_id();
  if (packet.has_job_cancel()) return packet.job_cancel().job_id();
  return "";
}

cap::BusPacket random_packet(Random& random) {
  cap::BusPacket packet;
  std::string id = "job-" + std::to_string(random());
  if (below(random, 2)) packet.set_trace_id("trace");
  if (below(random, 2)) packet.set_sender_id("sender");
  if (below(random, 2)) packet.mutable_created_at()->set_seconds(1'700'000'000);
  if (below(random, 2)) packet.set_protocol_version(1);
  if (below(random, 2)) packet.mutable_identity()->set_tenant_id("acme");
  if (below(random, 2)) packet.set_signature(std::string(64, '\xff'));
  if (below(random, 2)) packet.set_auth_token("token");
  switch (below(random, 8)) {
    case 0:
      packet.mutable_job_request()->set_job_id(id);
      packet.mutable_job_request()->set_topic("job.default");
      for (uint64_t i = below(random, 10); i > 0; --i) {
        (*packet.mutable_job_request()->mutable_env())[std::to_string(random())] = "v";
      }
      break;
    case 1:
      packet.mutable_job_result()->set_job_id(id);
      packet.mutable_job_result()->set_execution_ms(static_cast<int64_t>(random()));
      break;
    case 2:
      packet.mutable_job_progress()->set_job_id(id);
      break;
    case 3:
      packet.mutable_job_cancel()->set_job_id(id);
      break;
    case 4:
      packet.mutable_heartbeat()->set_worker_id("worker-1");
      packet.mutable_heartbeat()->set_cpu_load(0.5f);
      break;
    case 5:
      packet.mutable_handshake()->set_component_id("worker-1");
      break;
    case 6:
      packet.mutable_job_request()->set_topic("no id");
      break;
    default:
      break;
  }
  return packet;
}

TEST(PeekJobId, FindsWhatTheParserFinds) {
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    Random random(seed);
    cap::BusPacket packet = random_packet(random);
    ASSERT_EQ(peek_job_id(packet.SerializeAsString()), parsed_job_id(packet)) << "seed " << seed;
  }
}

TEST(PeekJobId, ReadsRequestResultProgressAndCancel) {
  cap::BusPacket packet;
  packet.mutable_job_request()->set_job_id("a");
  EXPECT_EQ(peek_job_id(packet.SerializeAsString()), "a");
  packet.mutable_job_result()->set_job_id("b");
  EXPECT_EQ(peek_job_id(packet.SerializeAsString()), "b");
  packet.mutable_job_progress()->set_job_id("c");
  EXPECT_EQ(peek_job_id(packet.SerializeAsString()), "c");
  packet.mutable_job_cancel()->set_job_id("d");
  EXPECT_EQ(peek_job_id(packet.SerializeAsString()), "d");
}

TEST(PeekJobId, IsEmptyForPacketsAboutNoJob) {
  cap::BusPacket packet;
  packet.mutable_heartbeat()->set_worker_id("worker-1");
  EXPECT_EQ(peek_job_id(packet.SerializeAsString()), "");
  packet.mutable_alert()->set_level("high");
  EXPECT_EQ(peek_job_id(packet.SerializeAsString()), "");
  EXPECT_EQ(peek_job_id(""), "");
}

TEST(PeekJobId, IsTrimmedLikeTheNamesOfARequest) {
  cap::BusPacket packet;
  packet.mutable_job_request()->set_job_id(" job-1\n");
  EXPECT_EQ(peek_job_id(packet.SerializeAsString()), "job-1");
}

TEST(PeekJobId, PointsIntoThePacket) {
  cap::BusPacket packet;
  packet.mutable_job_request()->set_job_id("job-1");
  std::string bytes = packet.SerializeAsString();
  std::string_view id = peek_job_id(bytes);
  EXPECT_GE(id.data(), bytes.data());
  EXPECT_LE(id.data() + id.size(), bytes.data() + bytes.size());
}

// Two payloads in one packet: a parser keeps the last, and merges two of the same kind.
TEST(PeekJobId, TakesTheLastPayloadAndTheLastIdOfIt) {
  cap::BusPacket request;
  request.mutable_job_request()->set_job_id("request");
  cap::BusPacket result;
  result.mutable_job_result()->set_job_id("result");
  cap::BusPacket heartbeat;
  heartbeat.mutable_heartbeat();
  cap::BusPacket request_without_id;
  request_without_id.mutable_job_request();

  std::vector<std::string> parts;
  for (const cap::BusPacket& part : {request, result, heartbeat, request_without_id}) {
    parts.push_back(part.SerializeAsString());
  }
  for (const std::string& a : parts) {
    for (const std::string& b : parts) {
      for (const std::string& c : parts) {
        cap::BusPacket parsed;
        ASSERT_TRUE(parsed.ParseFromString(a + b + c));
        EXPECT_EQ(peek_job_id(a + b + c), parsed_job_id(parsed));
      }
    }
  }
}

TEST(PeekJobId, IsEmptyForACutPacket) {
  cap::BusPacket packet;
  packet.mutable_job_request()->set_job_id("job-1");
  packet.mutable_job_request()->set_topic("job.default");
  std::string bytes = packet.SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(peek_job_id(std::string(bytes, 0, size)), "") << size;
  }
}

// Bytes that look like fields, so that some of them parse.
TEST(PeekJobId, AgreesWithTheParserOnGarbageThatParses) {
  google::protobuf::LogSilencer quiet;  // the parser complains about each bad string
  Random random(1);
  int parsed_count = 0;
  for (int round = 0; round < 300'000; ++round) {
    std::string bytes;
    for (uint64_t i = below(random, 4); i < 4; ++i) {
      constexpr uint8_t kTags[] = {0x0a, 0x52, 0x5a, 0x62, 0x7a, 0x50,
                                   0x82, 0x01, 0x23, 0x24, 0x0d};
      bytes += static_cast<char>(kTags[below(random, sizeof kTags)]);
      bytes += static_cast<char>(below(random, 6));
      for (uint64_t j = below(random, 5); j > 0; --j) {
        bytes += static_cast<char>(below(random, 2) ? 'x' : kTags[below(random, sizeof kTags)]);
      }
    }
    std::string_view id = peek_job_id(bytes);
    cap::BusPacket packet;
    if (!packet.ParseFromString(bytes)) continue;
    ++parsed_count;
    ASSERT_EQ(id, trim(parsed_job_id(packet))) << testing::PrintToString(bytes);
  }
  EXPECT_GT(parsed_count, 1000);
}

TEST(PeekJobId, RandomBytesNeverCrash) {
  Random random(2);
  for (int round = 0; round < 100'000; ++round) {
    std::string bytes(below(random, 60), '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    peek_job_id(bytes);
  }
}

TEST(PeekJobId, DamagedPacketsNeverCrash) {
  Random random(3);
  for (int round = 0; round < 100'000; ++round) {
    std::string bytes = random_packet(random).SerializeAsString();
    if (bytes.empty()) continue;
    bytes[below(random, bytes.size())] = static_cast<char>(random());
    peek_job_id(bytes);
  }
}

TEST(RequestBytes, AreTheOnesThatThePacketCarries) {
  Random random(11);
  for (int i = 0; i < 500; ++i) {
    cap::BusPacket packet = random_packet(random);
    std::string request = packet.has_job_request() ? packet.job_request().SerializeAsString() : "";
    // A field that we do not know: number 99, bytes "new".
    if (!request.empty()) request += "\x9a\x06\x03new";
    std::string bytes = packet.SerializeAsString();
    if (!request.empty()) {
      packet.clear_job_request();
      bytes = packet.SerializeAsString();
      append_message(bytes, cap::BusPacket::kJobRequestFieldNumber, {request});
    }
    EXPECT_EQ(request_bytes(bytes), request);
  }
}

TEST(RequestBytes, OfARequestInPiecesAreAllOfThem) {
  cap::BusPacket packet;
  packet.mutable_job_request()->set_job_id("first");
  std::string bytes = packet.SerializeAsString();
  packet.mutable_job_result()->set_job_id("result");
  bytes += packet.SerializeAsString();
  packet.mutable_job_request()->set_job_id("a");
  bytes += packet.SerializeAsString();
  packet.mutable_job_request()->Clear();
  packet.mutable_job_request()->set_topic("job.x");
  bytes += packet.SerializeAsString();

  cap::JobRequest request;
  ASSERT_TRUE(request.ParseFromString(request_bytes(bytes)));
  cap::BusPacket parsed;
  ASSERT_TRUE(parsed.ParseFromString(bytes));
  EXPECT_EQ(request.job_id(), "a");
  EXPECT_EQ(request.SerializeAsString(), parsed.job_request().SerializeAsString());
}

TEST(AppendMessage, LetsTheLastPieceCount) {
  cap::JobRequest first;
  first.set_topic("job.first");
  first.mutable_budget()->set_deadline_ms(900);
  first.mutable_budget()->set_max_input_tokens(7);
  (*first.mutable_env())["A"] = "first";
  (*first.mutable_env())["B"] = std::string(300, 'b');
  cap::JobRequest last;
  last.set_topic("job.last");
  last.mutable_budget()->set_deadline_ms(300);
  (*last.mutable_env())["A"] = "last";

  std::string bytes;
  append_message(bytes, cap::BusPacket::kJobRequestFieldNumber,
                 {first.SerializeAsString(), last.SerializeAsString()});
  cap::BusPacket packet;
  ASSERT_TRUE(packet.ParseFromString(bytes));
  EXPECT_EQ(packet.job_request().topic(), "job.last");
  EXPECT_EQ(packet.job_request().budget().deadline_ms(), 300);
  EXPECT_EQ(packet.job_request().budget().max_input_tokens(), 7);
  EXPECT_EQ(packet.job_request().env().at("A"), "last");
  EXPECT_EQ(packet.job_request().env().at("B").size(), 300u);
}

}  // namespace
}  // namespace fairlead::job
