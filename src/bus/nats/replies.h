// Who waits for which answer. Every question has a subject of its own to be answered on, below one
// that is listened to all the time.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "bus/nats/link.h"
#include "runtime/loop.h"

namespace fairlead::bus::nats {

struct Reply {
  enum class Kind {
    kAnswer,
    kNoResponders,  // nobody listens to the question
    kNone,          // no answer in time, or the connection broke
  };
  Kind kind = Kind::kNone;
  Arrival message{};  // of an answer
};

class Replies {
 public:
  using Take = std::move_only_function<void(Reply)>;

  // Answers come to subjects that begin with `prefix`, which ends with a dot.
  Replies(Loop& loop, std::string prefix) : loop_(loop), prefix_(std::move(prefix)) {}
  Replies(const Replies&) = delete;
  Replies& operator=(const Replies&) = delete;
  ~Replies();

  std::string pattern() const { return prefix_ + "*"; }

  // The subject for the answer to one question. `take` is called once, from here or from arrived()
  // and lost().
  std::string expect(Take take);
  void forget(const std::string& subject);

  void arrived(Arrival message);
  // The connection broke: nobody is answered any more.
  void lost();

  size_t waiting() const { return waiting_.size(); }

 private:
  struct Deadline {
    MonotonicTime at;
    uint64_t number = 0;
  };

  void arm();
  void expire();

  Loop& loop_;
  std::string prefix_;
  uint64_t last_ = 0;
  std::unordered_map<uint64_t, Take> waiting_;
  std::deque<Deadline> deadlines_;  // of questions that may have been answered since
  std::optional<TimerId> timer_;
  // Whoever is answered may end us.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fairlead::bus::nats
