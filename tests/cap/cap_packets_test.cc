// Packets exchanged with the published Python SDK, in both of its generations.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include "cordum/agent/v1/buspacket.pb.h"
#include "cordum/agent/v1/policy.pb.h"
#include "cordum/agent/v1/safety.pb.h"
#include "tests/cap/python_sdk.h"
#include "tests/cap/sample.h"

namespace fairlead::cap {
namespace {

namespace agent = cordum::agent::v1;
using google::protobuf::FileDescriptor;
using google::protobuf::Message;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

// A message and, when it is a BusPacket, the payload it carries.
struct Kind {
  const Message* prototype;
  std::string payload;

  std::string file_name() const {
    const std::string name = prototype->GetDescriptor()->name();
    return payload.empty() ? name + ".bin" : name + "." + payload + ".bin";
  }
};

const std::vector<const FileDescriptor*>& wire_files() {
  static const std::vector<const FileDescriptor*> files = {
      agent::IdentityBinding::descriptor()->file(),    agent::JobRequest::descriptor()->file(),
      agent::Heartbeat::descriptor()->file(),          agent::Handshake::descriptor()->file(),
      agent::SystemAlert::descriptor()->file(),        agent::BusPacket::descriptor()->file(),
      agent::PolicyCheckRequest::descriptor()->file(), agent::Rule::descriptor()->file()};
  return files;
}

// Every message of the package, a BusPacket once for every payload; without what is newer when
// the peer is older.
std::vector<Kind> kinds(Generation peer) {
  std::vector<Kind> found;
  auto* factory = google::protobuf::MessageFactory::generated_factory();
  for (const auto* file : wire_files()) {
    for (int i = 0; i < file->message_type_count(); ++i) {
      const auto* type = file->message_type(i);
      if (peer == Generation::kOlder && is_newer_message(*type)) continue;
      const Message* prototype = factory->GetPrototype(type);
      if (type->oneof_decl_count() == 0) {
        found.push_back({prototype, ""});
        continue;
      }
      const auto* payloads = type->oneof_decl(0);
      for (int p = 0; p < payloads->field_count(); ++p) {
        const auto* field = payloads->field(p);
        if (peer == Generation::kOlder && is_newer_message(*field->message_type())) continue;
        found.push_back({prototype, field->name()});
      }
    }
  }
  return found;
}

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_contents(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<std::string> lines_of(const std::string& text, const std::string& start) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(start)) lines.push_back(line);
  return lines;
}

class CapPackets : public testing::TestWithParam<SdkVersion> {
 protected:
  void SetUp() override {
    const auto python = sdk_python(GetParam());
    if (!python)
      GTEST_SKIP() << GetParam().python_variable << " is not set: run this through ./dev test";
    python_ = *python;
    std::string pattern = (std::filesystem::temp_directory_path() / "fairlead-cap-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }

  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  void python_writes() {
    const Outcome outcome = run_packets(python_, "write", folder_);
    ASSERT_EQ(outcome.status, 0) << outcome.output;
  }

  agent::BusPacket packet_in(const std::string& file_name) {
    agent::BusPacket packet;
    EXPECT_TRUE(packet.ParseFromString(contents_of(folder_ / file_name))) << file_name;
    return packet;
  }

  std::string python_;
  std::filesystem::path folder_;
};

TEST_P(CapPackets, HaveTheSdksNamesNumbersAndTypes) {
  google::protobuf::FileDescriptorSet ours;
  for (const auto* file : wire_files()) file->CopyTo(ours.add_file());
  const auto path = folder_ / "schema.pb";
  write_contents(path, ours.SerializeAsString());

  const Outcome outcome = run_packets(python_, "schema", path);

  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(lines_of(outcome.output, "missing"), IsEmpty());
  EXPECT_THAT(lines_of(outcome.output, "different"), IsEmpty());
  if (GetParam().generation == Generation::kNewest)
    EXPECT_THAT(lines_of(outcome.output, "newer"), IsEmpty());
}

TEST_P(CapPackets, OfTheSdkAreReadWithEveryField) {
  python_writes();
  for (const Kind& kind : kinds(GetParam().generation)) {
    const auto path = folder_ / kind.file_name();
    ASSERT_TRUE(std::filesystem::exists(path)) << path;
    const std::unique_ptr<Message> actual(kind.prototype->New());
    ASSERT_TRUE(actual->ParseFromString(contents_of(path))) << kind.file_name();
    EXPECT_THAT(sample_differences(*actual, GetParam().generation, kind.payload), IsEmpty())
        << kind.file_name();
  }
}

TEST_P(CapPackets, OfOursAreReadByTheSdkWithEveryField) {
  for (const Kind& kind : kinds(Generation::kNewest)) {
    const std::unique_ptr<Message> message(kind.prototype->New());
    fill_sample(*message, kind.payload);
    write_contents(folder_ / kind.file_name(), message->SerializeAsString());
  }

  const Outcome outcome = run_packets(python_, "read", folder_);

  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_THAT(lines_of(outcome.output, "read "), testing::SizeIs(1));
  if (GetParam().generation == Generation::kNewest)
    EXPECT_THAT(lines_of(outcome.output, "unknown"), IsEmpty());
}

TEST_P(CapPackets, OfTheSdkReadThroughTheNamesThatCodeUses) {
  python_writes();
  const agent::BusPacket packet = packet_in("BusPacket.job_request.bin");
  EXPECT_EQ(packet.trace_id(), "BusPacket.trace_id#0");
  EXPECT_EQ(packet.payload_case(), agent::BusPacket::kJobRequest);

  const agent::JobRequest& request = packet.job_request();
  EXPECT_EQ(request.job_id(), "JobRequest.job_id#0");
  EXPECT_EQ(request.priority(), agent::JOB_PRIORITY_CRITICAL);
  EXPECT_EQ(request.step_index(), -9);
  EXPECT_EQ(request.budget().deadline_ms(), (int64_t{1} << 40) + 4);
  EXPECT_THAT(request.env(), ElementsAre(Pair("EnvEntry.key#0", "EnvEntry.value#0")));
  EXPECT_THAT(request.meta().requires_(),
              ElementsAre("JobMetadata.requires#0", "JobMetadata.requires#1"));
  EXPECT_EQ(request.compensation().topic(), "Compensation.topic#0");
  EXPECT_EQ(request.has_dispatch(), GetParam().generation == Generation::kNewest);
}

TEST_P(CapPackets, MadeByTheSdksOwnFunctionsAreRead) {
  python_writes();
  const agent::Heartbeat heartbeat = packet_in("sdk_heartbeat.bin").heartbeat();
  EXPECT_EQ(heartbeat.worker_id(), "worker-7");
  EXPECT_EQ(heartbeat.pool(), "gpu");
  EXPECT_EQ(heartbeat.active_jobs(), 3);
  EXPECT_EQ(heartbeat.max_parallel_jobs(), 8);
  EXPECT_EQ(heartbeat.cpu_load(), 42.5F);
  EXPECT_EQ(heartbeat.auth_token(), "secret");
  EXPECT_EQ(heartbeat.agent_name(), "Seven");

  const agent::BusPacket greeting = packet_in("sdk_handshake.bin");
  EXPECT_EQ(greeting.protocol_version(), 1);
  EXPECT_EQ(greeting.handshake().component_id(), "worker-7");
  EXPECT_EQ(greeting.handshake().role(), agent::COMPONENT_ROLE_WORKER);
  EXPECT_THAT(greeting.handshake().supported_versions(), ElementsAre(1));
  EXPECT_THAT(greeting.handshake().ready_topics(), ElementsAre("job.chat"));
  EXPECT_THAT(greeting.handshake().capabilities(),
              UnorderedElementsAre(Pair("chat", true), Pair("stream", false)));
}

// A later SDK may add fields: what we forward must still carry them.
TEST_P(CapPackets, KeepUnknownFieldsThroughParseMergeAndSerialise) {
  python_writes();
  agent::BusPacket later = packet_in("BusPacket.job_request.bin");
  auto add_unknown = [](Message& message, uint64_t number, const std::string& text) {
    auto* fields = message.GetReflection()->MutableUnknownFields(&message);
    fields->AddVarint(900, number);
    fields->AddLengthDelimited(901, text);
  };
  add_unknown(later, 7, "envelope");
  add_unknown(*later.mutable_job_request(), 8, "request");
  add_unknown(*later.mutable_job_request()->mutable_meta(), 9, "meta");

  agent::BusPacket parsed;
  ASSERT_TRUE(parsed.ParseFromString(later.SerializeAsString()));
  agent::BusPacket merged;
  merged.mutable_job_request()->set_job_id("overwritten by the merge");
  merged.MergeFrom(parsed);
  (*merged.mutable_job_request()->mutable_env())["ADDED"] = "on the way";
  agent::BusPacket forwarded;
  ASSERT_TRUE(forwarded.ParseFromString(merged.SerializeAsString()));

  auto expect_unknown = [](const Message& message, uint64_t number, const std::string& text) {
    const auto& fields = message.GetReflection()->GetUnknownFields(message);
    ASSERT_EQ(fields.field_count(), 2);
    EXPECT_EQ(fields.field(0).number(), 900);
    EXPECT_EQ(fields.field(0).varint(), number);
    EXPECT_EQ(fields.field(1).number(), 901);
    EXPECT_EQ(fields.field(1).length_delimited(), text);
  };
  expect_unknown(forwarded, 7, "envelope");
  expect_unknown(forwarded.job_request(), 8, "request");
  expect_unknown(forwarded.job_request().meta(), 9, "meta");
  EXPECT_EQ(forwarded.job_request().job_id(), "JobRequest.job_id#0");
  EXPECT_EQ(forwarded.job_request().env().at("ADDED"), "on the way");
}

INSTANTIATE_TEST_SUITE_P(Sdk, CapPackets, testing::ValuesIn(kSdkVersions),
                         [](const auto& version) { return std::string(version.param.name); });

}  // namespace
}  // namespace fairlead::cap
