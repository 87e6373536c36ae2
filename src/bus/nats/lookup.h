// Whether a message is in a stream, by its id.
//
// JetStream cannot be asked for an id, and publishing once more to see whether that is a duplicate
// would give the message to a worker twice. So the headers of the last messages of the subject are
// read: those among the stream's last limits::kLookupSequences messages, by a consumer that exists
// for that long. Questions about one subject that wait for the same reading share it.
//
// Found is certain. Not found is not: the message may be older, or still be on its way in a socket
// of a server that hangs, so the answer is then "cannot tell", never "not there".
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bus/nats/jetstream_api.h"
#include "bus/nats/link.h"
#include "runtime/future.h"
#include "runtime/nursery.h"

namespace fairlead::bus::nats {

class Lookup {
 public:
  // Both must outlive it. `name` is nobody else's in the cluster; consumers are called after it.
  // Messages come to `deliver_subject` and are given to arrived().
  Lookup(Loop& loop, JetStreamApi& api, std::string name, std::string deliver_subject)
      : loop_(loop),
        api_(api),
        name_(std::move(name)),
        deliver_subject_(std::move(deliver_subject)) {}

  // True, or nothing; an error when the stream could not be read. REQUIRES: a streamed subject.
  Future<Result<std::optional<bool>>> stored(std::string subject, std::string id);
  void arrived(const Arrival& message);

 private:
  using Answer = Result<std::optional<bool>>;
  struct Question {
    std::string id;
    Completer<Answer> answer{};
  };
  struct Subject {
    std::vector<Question> waiting;
    bool reading = false;
  };
  struct Reading;

  Task<void> serve(std::string subject);
  Task<Result<void>> read(const std::string& subject, std::shared_ptr<Reading> reading);
  Task<Result<uint64_t>> first_sequence(const std::string& stream);

  Loop& loop_;
  JetStreamApi& api_;
  std::string name_;
  std::string deliver_subject_;
  uint64_t readings_made_ = 0;
  std::map<std::string, Subject> subjects_;
  std::map<std::string, std::shared_ptr<Reading>, std::less<>> under_way_;  // by consumer
  Nursery readings_;
};

}  // namespace fairlead::bus::nats
