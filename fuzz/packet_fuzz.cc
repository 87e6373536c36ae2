// Packets of any bytes on the subjects that the scheduler listens to, and records of any bytes.
#include <array>
#include <string>

#include <google/protobuf/stubs/logging.h>

#include "fuzz/world.h"
#include "job/codec.h"
#include "job/request.h"

namespace fairlead::fuzz {
namespace {

constexpr std::array kSubjects = {
    bus::kSubmitSubject,   bus::kResultSubject,    bus::kCancelSubject,     bus::kHeartbeatSubject,
    bus::kProgressSubject, bus::kHandshakeSubject, bus::kWorkerGoneSubject,
};

// What can be read can be written and read again.
void check_record(std::string_view bytes) {
  Result<job::Record> record = job::decode(bytes);
  if (!record) return;
  std::string encoded;
  job::encode(*record, encoded);
  Result<job::Record> again = job::decode(encoded);
  check(again.has_value() && *again == *record, "a record is read as it was written");
}

void say_all(std::string_view input) {
  check_record(input);
  World world;
  while (input.size() >= 3) {
    std::string_view subject = kSubjects[static_cast<uint8_t>(input[0]) % kSubjects.size()];
    size_t size = static_cast<uint8_t>(input[1]) + 256u * (static_cast<uint8_t>(input[2]) & 3);
    std::string_view packet = input.substr(3, size);
    input.remove_prefix(3 + packet.size());
    (void)job::peek_job_id(packet);
    (void)world.bus.publish(std::string(subject), std::string(packet), {});
    world.loop.run_for(std::chrono::milliseconds(100));
  }
  world.loop.run_for(std::chrono::minutes(1));
}

}  // namespace
}  // namespace fairlead::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // It tells of every text that is not UTF-8.
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fairlead::fuzz::say_all({reinterpret_cast<const char*>(data), size});
  return 0;
}
