// The subscribers that share the messages of one subject, and the messages that wait for them. A
// subscriber without a queue name is a group of its own.
//
//   admit ──► waiting ──start_next──► running (at its member) ──release──► the caller
//                │  ▲                    │ the member leaves                 │   │
//    behind a    ▼  │ that one ended     ▼                                   │   └─discharge─►
//    same key: in line               waiting                                 └─put_back─► waiting
//
// While a durable group has no members, what the store has not got yet is taken out by park(), and
// what it has waits for the first to join. Nothing here waits, writes or calls a handler.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bus/envelope.h"

namespace fairlead::bus {

// A subscription as its group sees it. Whoever runs its handler keeps it alive.
struct Member {
  SubscribeOptions options;
  Handler handler;
  std::list<Entry> running{};
  bool left = false;  // its verdicts no longer count
};

class Group {
 public:
  Group(std::string pattern, std::string queue, bool consumes = true)
      : Group(pattern, queue, durable(pattern, queue, consumes) ? Kept::kAll : Kept::kNone) {}
  // Whether messages are kept until they are answered.
  enum class Kept { kNone, kAll };
  Group(std::string pattern, std::string queue, Kept kept);
  // Whether a group of this subject and queue keeps every message.
  static bool durable(std::string_view pattern, std::string_view queue, bool consumes) {
    return consumes && !queue.empty() && is_durable(pattern);
  }

  const std::string& pattern() const { return pattern_; }
  const std::string& queue() const { return queue_; }
  // Every message is kept until a member says ack or terminate.
  bool durable() const { return durable_; }

  void join(std::shared_ptr<Member> member);
  // What the member has not answered waits again, before all others; of a group that is not
  // durable it is dropped.
  void leave(const std::shared_ptr<Member>& member);
  bool has_members() const { return !members_.empty(); }
  // Whether messages of this origin are for anybody here.
  bool wants(uint64_t origin) const;

  // Whether one more message may wait.
  bool has_room(size_t payload_bytes) const;
  // Messages of this group, wherever they are: admitted and not yet discharged.
  size_t held() const { return held_; }
  size_t waiting() const { return waiting_.size(); }
  bool can_start() const;

  void admit(Entry entry);
  void put_back(Entry entry) { waiting_.push_back(std::move(entry)); }
  void discharge(const Entry& entry);

  struct Start {
    std::shared_ptr<Member> member;
    std::list<Entry>::iterator entry;
  };
  // The next message that may run, given to the next member with room for it.
  std::optional<Start> start_next();
  // REQUIRES: the member has not left.
  Entry release(const Start& start);

  // Takes out, oldest first, all that waits and is not in the store.
  std::vector<Entry> park();

  // For the bus: it is going to serve this group in its next turn.
  bool listed = false;

 private:
  // The messages of one key: the one that runs, and in line behind it those that came meanwhile.
  struct Line {
    bool busy = false;
    std::list<Entry> waiting;
  };

  const std::shared_ptr<Member>* next_member(uint64_t origin);
  // The key is free: the next in its line is the next of all.
  void free_key(uint64_t key);

  std::string pattern_;
  std::string queue_;
  bool durable_;
  std::vector<std::shared_ptr<Member>> members_;
  size_t turn_ = 0;  // the member that is asked first
  size_t held_ = 0;
  size_t held_bytes_ = 0;
  size_t running_ = 0;
  std::list<Entry> waiting_;
  std::list<Entry> parked_;  // in the store, until somebody joins
  // By hash of the key: two keys with one hash wait for each other, which does no harm.
  std::unordered_map<uint64_t, Line> lines_;
};

}  // namespace fairlead::bus
