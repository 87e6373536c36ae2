#include "job/codec.h"

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace fairlead::job {
namespace {

using Random = std::mt19937_64;

// A record with every field away from its default.
Record full_record() {
  auto at = [](int64_t micros) { return wall_time_from_micros(1'700'000'000'000'000 + micros); };
  Record record;
  record.id = JobId("job-1");
  record.state = State::kRunning;
  record.revision = Revision(7);
  record.topic = Topic("job.default");
  record.tenant = TenantId("acme");
  record.team = "red";
  record.principal = "alice";
  record.trace = TraceId("trace-1");
  record.workflow_id = "wf-1";
  record.idempotency_key = "once";
  record.priority = 3;
  record.request_hash = std::string(64, 'a');
  record.created_at = at(1);
  record.updated_at = at(2);
  record.deadline = at(3);
  record.due = at(4);
  record.epoch = Epoch(2);
  record.assignee = WorkerId("worker-1");
  record.dispatched_at = at(5);
  record.first_sign_at = at(10);
  record.publish_pending = true;
  record.open_epochs = {{Epoch(1), WorkerId("worker-0")}};
  record.worker_lost = true;
  record.attempts = 4;
  record.deliveries = 2;
  record.decision = {Decision::Kind::kAllowWithConstraints,
                     "ok",
                     "rule-1",
                     "snap-1",
                     std::string("\x00\x01", 2),
                     at(6)};
  record.past_decisions = {{Decision::Kind::kThrottle, "later", "rule-0", "snap-0", "", at(5)}};
  record.wait = Wait{ReasonCode::kPoolOverloaded, "3 of 3 busy", "pool:a", at(7), at(6)};
  record.last_result = {Sequence(99), at(8)};
  record.results_seen = {Sequence(98), at(7)};
  record.result_ptr = "redis://res:job-1";
  record.reason = ReasonCode::kWorkerReported;
  record.error_code = "E_MODEL";
  record.error_number = 203;
  record.error_message = "it broke";
  record.execution_ms = 1234;
  record.history = {{at(8), State::kPending, Epoch(), ""}, {at(9), State::kRunning, Epoch(2), "w"}};
  return record;
}

// All texts of a record.
std::vector<std::string*> texts_of(Record& record) {
  return {&record.team,
          &record.principal,
          &record.workflow_id,
          &record.idempotency_key,
          &record.request_hash,
          &record.decision.reason,
          &record.decision.rule_id,
          &record.decision.policy_snapshot,
          &record.decision.constraints,
          &record.past_decisions[0].reason,
          &record.wait->detail,
          &record.wait->wait_class,
          &record.result_ptr,
          &record.error_code,
          &record.error_message,
          &record.history[0].note,
          &record.history[1].note};
}

uint64_t below(Random& random, uint64_t bound) {
  return random() % bound;
}

std::string random_text(Random& random) {
  std::string text(below(random, 4) == 0 ? below(random, 300) : below(random, 8), '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

// Of every magnitude, the extremes included.
uint64_t random_number(Random& random) {
  return random() >> below(random, 64);
}

template <class T>
T random_enum(Random& random, T last) {
  return static_cast<T>(below(random, static_cast<uint64_t>(last) + 1));
}

WallTime random_time(Random& random) {
  return wall_time_from_micros(static_cast<int64_t>(random_number(random)));
}

Record random_record(Random& random) {
  auto maybe = [&] { return below(random, 2) == 0; };
  Record record;
  record.state = random_enum(random, State::kOutputQuarantined);
  if (maybe()) record.id = JobId(random_text(random));
  if (maybe()) record.revision = Revision(random_number(random));
  if (maybe()) record.topic = Topic(random_text(random));
  if (maybe()) record.tenant = TenantId(random_text(random));
  if (maybe()) record.team = random_text(random);
  if (maybe()) record.principal = random_text(random);
  if (maybe()) record.trace = TraceId(random_text(random));
  if (maybe()) record.workflow_id = random_text(random);
  if (maybe()) record.idempotency_key = random_text(random);
  if (maybe()) record.priority = static_cast<int32_t>(random_number(random));
  if (maybe()) record.request_hash = random_text(random);
  if (maybe()) record.created_at = random_time(random);
  if (maybe()) record.updated_at = random_time(random);
  if (maybe()) record.deadline = maybe() ? WallTime() : random_time(random);
  if (maybe()) record.due = random_time(random);
  if (maybe()) record.epoch = Epoch(random_number(random));
  if (maybe()) record.assignee = WorkerId(random_text(random));
  if (maybe()) record.dispatched_at = random_time(random);
  record.publish_pending = maybe();
  for (uint64_t i = below(random, 4); i > 0; --i) {
    record.open_epochs.push_back({Epoch(random_number(random)), WorkerId(random_text(random))});
  }
  record.worker_lost = maybe();
  if (maybe()) record.attempts = static_cast<uint32_t>(random_number(random));
  if (maybe()) record.deliveries = static_cast<uint32_t>(random_number(random));
  if (maybe()) {
    record.decision = {random_enum(random, Decision::Kind::kUnknown),
                       random_text(random),
                       random_text(random),
                       random_text(random),
                       random_text(random),
                       random_time(random)};
  }
  if (maybe()) {
    record.wait = maybe()
                      ? Wait{}
                      : Wait{random_enum(random, ReasonCode::kWorkerReported), random_text(random),
                             random_text(random), random_time(random), random_time(random)};
  }
  if (maybe()) record.last_result = {Sequence(random_number(random)), random_time(random)};
  if (maybe()) record.results_seen = {Sequence(random_number(random)), random_time(random)};
  if (maybe()) record.result_ptr = random_text(random);
  record.reason = random_enum(random, ReasonCode::kWorkerReported);
  if (maybe()) record.error_code = random_text(random);
  if (maybe()) record.first_sign_at = random_time(random);
  if (maybe()) record.error_number = static_cast<int32_t>(random());
  if (maybe()) record.error_message = random_text(random);
  if (maybe()) record.execution_ms = static_cast<int64_t>(random_number(random));
  for (uint64_t i = below(random, 6); i > 0; --i) {
    record.history.push_back({random_time(random), random_enum(random, State::kOutputQuarantined),
                              Epoch(random_number(random)), random_text(random)});
  }
  return record;
}

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

// The stored form of these fields: a version, the length of the fields, the fields.
std::string stored(std::string_view fields_hex) {
  std::string fields = from_hex(fields_hex);
  EXPECT_LT(fields.size(), 0x80u);
  return '\1' + std::string(1, static_cast<char>(fields.size())) + fields;
}

bool is_corrupt(std::string_view bytes) {
  Result<Record> record = decode(bytes);
  return !record && record.error().code == ErrorCode::kCorrupt;
}

TEST(TextBytes, CountsEveryTextOfARecord) {
  Record record = full_record();
  const size_t before = text_bytes(record);
  EXPECT_GT(before, 0u);
  size_t added = 0;
  for (std::string* text : texts_of(record)) {
    text->append(1000, 'x');
    added += 1000;
    EXPECT_EQ(text_bytes(record), before + added);
  }
  record.trace = TraceId(record.trace.str() + "12345");
  record.open_epochs.push_back({Epoch(2), WorkerId("67890")});
  EXPECT_EQ(text_bytes(record), before + added + 10);
}

TEST(Codec, ReadsBackARecordWithEveryFieldSet) {
  Result<Record> read = decode(encode(full_record()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, full_record());
}

TEST(Codec, ReadsBackRandomRecords) {
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    Random random(seed);
    Record record = random_record(random);
    Result<Record> read = decode(encode(record));
    ASSERT_TRUE(read) << "seed " << seed << ": " << read.error().message;
    ASSERT_EQ(*read, record) << "seed " << seed;
  }
}

TEST(Codec, ReadsBackTheExtremesOfNumbers) {
  Record record;
  record.priority = std::numeric_limits<int32_t>::min();
  record.execution_ms = std::numeric_limits<int64_t>::min();
  record.created_at = wall_time_from_micros(std::numeric_limits<int64_t>::max());
  record.updated_at = wall_time_from_micros(-1);
  record.attempts = std::numeric_limits<uint32_t>::max();
  record.revision = Revision(std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(decode(encode(record)), record);
}

TEST(Codec, DefaultsTakeNoBytes) {
  EXPECT_EQ(encode(Record{}), stored(""));
  EXPECT_EQ(decode(stored("")), Record{});
}

TEST(Codec, TellsAnOptionalThatHoldsItsDefaultFromNone) {
  Record record;
  record.deadline = WallTime();
  record.wait = Wait{};
  EXPECT_EQ(decode(encode(record)), record);
  EXPECT_NE(decode(encode(record)), Record{});
}

TEST(Codec, AppendsToTheBuffer) {
  std::string out = "before";
  encode(full_record(), out);
  EXPECT_EQ(out, "before" + encode(full_record()));
}

// Databases in the field hold these bytes.
TEST(Codec, TheFormatOfVersionOneStaysAsItIs) {
  Record record;
  record.id = JobId("j");
  record.state = State::kRunning;
  record.priority = -1;
  record.deadline = wall_time_from_micros(64);
  record.open_epochs = {{Epoch(1), WorkerId("w")}};
  record.history = {{wall_time_from_micros(1), State::kPending, Epoch(), "n"}};
  EXPECT_EQ(encode(record), stored("03016a"  // id
                                   "0404"    // state
                                   "1601"    // priority
                                   "1e8001"  // deadline
                                   "2d05"
                                   "0201"
                                   "050177"  // open epoch
                                   "4505"
                                   "0202"
                                   "09016e"));  // event
}

TEST(Codec, AWaitWithoutAPlaceInLineHasItWhereItBegan) {
  Record old;
  old.wait = Wait{ReasonCode::kNoWorkers, "", "pools=a", wall_time_from_micros(64)};
  Record read = *decode(encode(old));
  EXPECT_EQ(read, old);
  EXPECT_EQ(place_in_line(*read.wait), wall_time_from_micros(64));
  read.wait->queued_at = wall_time_from_micros(32);
  EXPECT_EQ(place_in_line(*decode(encode(read))->wait), wall_time_from_micros(32));
}

TEST(Codec, SkipsTagsItDoesNotKnow) {
  Record expected;
  expected.id = JobId("j");
  expected.state = State::kRunning;
  // Tag 0 before, tag 100 of both kinds behind.
  EXPECT_EQ(decode(stored("0005"
                          "03016a"
                          "0404"
                          "c80107"
                          "c90102ffff")),
            expected);
}

TEST(Codec, SkipsUnknownTagsInsideParts) {
  Record expected;
  expected.open_epochs = {{Epoch(1), WorkerId("w")}};
  EXPECT_EQ(decode(stored("2d07"
                          "0201"
                          "050177"
                          "2001")),
            expected);
}

TEST(Codec, EveryProperPrefixIsCorrupt) {
  std::string bytes = encode(full_record());
  for (size_t size = 0; size < bytes.size(); ++size) {
    // A copy of the exact size, so that a sanitizer sees any read beyond it.
    std::string prefix(bytes, 0, size);
    EXPECT_TRUE(is_corrupt(prefix)) << size;
  }
}

TEST(Codec, BytesBehindTheRecordAreCorrupt) {
  EXPECT_TRUE(is_corrupt(encode(full_record()) + '\0'));
}

TEST(Codec, ANewerVersionIsCorruptAndSaysSo) {
  std::string bytes = encode(full_record());
  bytes[0] = 2;
  Result<Record> read = decode(bytes);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(read.error().message.find("version 2"), std::string::npos) << read.error().message;
}

TEST(Codec, RefusesFieldsThatMakeNoSense) {
  EXPECT_TRUE(is_corrupt(stored("0201"))) << "a number where a text belongs";
  EXPECT_TRUE(is_corrupt(stored("0500"))) << "a text where a number belongs";
  EXPECT_TRUE(is_corrupt(stored("040c"))) << "a state that does not exist";
  EXPECT_TRUE(is_corrupt(stored("2802"))) << "neither false nor true";
  EXPECT_TRUE(is_corrupt(stored("308080808010"))) << "attempts beyond their type";
  EXPECT_TRUE(is_corrupt(stored("168080808010"))) << "a priority beyond its type";
  EXPECT_TRUE(
      is_corrupt(stored("0404"
                        "03016a")))
      << "tags that descend";
  EXPECT_TRUE(is_corrupt(stored("03ffffffff0f6a"))) << "a length beyond the bytes";
  EXPECT_TRUE(is_corrupt(stored("03ffffffffffffffffff016a"))) << "the largest length of all";
  EXPECT_TRUE(is_corrupt(stored("06ffffffffffffffffffff01"))) << "a number of eleven bytes";
  EXPECT_TRUE(
      is_corrupt(stored("2d03"
                        "050577")))
      << "a part whose text leaves it";
}

TEST(Codec, AReasonOrADecisionOfALaterProgramIsReadAsUnknown) {
  Result<Record> reason = decode(stored("3c7f"));
  ASSERT_TRUE(reason) << reason.error().message;
  EXPECT_EQ(reason->reason, ReasonCode::kNone);
  Result<Record> decision =
      decode(stored("3502"
                    "027f"));
  ASSERT_TRUE(decision) << decision.error().message;
  EXPECT_EQ(decision->decision.kind, Decision::Kind::kUnknown) << "nothing runs by it";
}

TEST(Codec, RandomBytesNeverCrash) {
  Random random(1);
  for (int round = 0; round < 100'000; ++round) {
    std::string fields(below(random, 40), '\0');
    for (char& c : fields) c = static_cast<char>(random() >> below(random, 8));
    std::string bytes = '\1' + std::string(1, static_cast<char>(fields.size())) + fields;
    if (Result<Record> read = decode(bytes)) ASSERT_EQ(decode(encode(*read)), *read);
  }
}

TEST(Codec, DamagedRecordsNeverCrash) {
  std::string whole = encode(full_record());
  Random random(2);
  for (int round = 0; round < 100'000; ++round) {
    std::string bytes = whole;
    for (uint64_t i = below(random, 4); i < 4; ++i) {
      bytes[below(random, bytes.size())] = static_cast<char>(random());
    }
    if (Result<Record> read = decode(bytes)) ASSERT_EQ(decode(encode(*read)), *read);
  }
}

}  // namespace
}  // namespace fairlead::job
