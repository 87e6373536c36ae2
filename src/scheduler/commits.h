// A commit and what follows it: messages that the change carried are published, and waiting jobs
// that it claimed are tried. Nothing follows a change that was not applied.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/task.h"
#include "scheduler/replica.h"
#include "scheduler/wait_board.h"

namespace fairlead::scheduler {

// The change answers a message of the bus.
inline void answer_with(store::Change& change, const bus::Delivery& delivery) {
  change.consumed = delivery.queued;
  change.mark = delivery.mark;
  change.was_in_flight = !delivery.in_flight_mark().empty();
}

class Commits {
 public:
  struct Hooks {
    // A commit claimed a waiting job for us.
    std::function<void(store::Claim)> on_claimed;
    // Room may have come for those who wait in a class.
    std::function<void(std::string wait_class)> on_room;
  };

  Commits(Replica& replica, Hooks hooks) : replica_(replica), hooks_(std::move(hooks)) {}

  // A job that holds no worker's slot any more is no longer held there.
  Task<Result<store::Receipt>> commit(store::Change change);

  // Commits the end of a job: counts it, and offers the room it leaves to those who wait for it.
  // `change` comes from ending_change().
  Task<Result<store::Receipt>> commit_ending(store::Change change);

  // What to claim from when a job of this record leaves its worker.
  std::vector<std::vector<std::string>> room_left_by(const job::Record& record) const;

  // A job was committed that waits in this class since `now`. Room may have come while it was on
  // its way.
  void joined(std::string wait_class, WallTime now);
  // Tries the next of this class.
  void wake(std::string wait_class) { hooks_.on_room(std::move(wait_class)); }

  // Publishes messages of commits whose owner did not, and gives up those that are too old.
  Task<void> publish_orphans();

  WaitBoard& board() { return board_; }

 private:
  Task<Result<store::Receipt>> follow(store::Answer<store::Receipt> answer,
                                      std::vector<store::Message> messages);
  Task<Result<store::Receipt>> follow_ending(Task<Result<store::Receipt>> committing);
  // A dead letter that the bus does not take is published once more after a moment (DLQ-1).
  Task<void> publish_messages(std::vector<store::Message> messages,
                              std::vector<Sequence> sequences);
  // Whether the bus has it.
  Task<bool> publish(store::Message message);
  // A dead letter could not be published, and will be with the orphans.
  Task<void> count_emit_failure(JobId job);

  Replica& replica_;
  Hooks hooks_;
  WaitBoard board_;
};

}  // namespace fairlead::scheduler
