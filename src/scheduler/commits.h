// A commit and what follows it: messages that the change carried are published, and waiting jobs
// that it claimed are tried. Nothing follows a change that was not applied.
#pragma once

#include <functional>
#include <vector>

#include "runtime/task.h"
#include "scheduler/replica.h"
#include "scheduler/wait_board.h"

namespace fairlead::scheduler {

class Commits {
 public:
  using OnClaimed = std::function<void(store::Claim)>;

  Commits(Replica& replica, OnClaimed on_claimed)
      : replica_(replica), on_claimed_(std::move(on_claimed)) {}

  // A job that holds no worker's slot any more is no longer held there.
  Task<Result<store::Receipt>> commit(store::Change change);

  // Commits the end of a job: counts it, and offers the room it leaves to those who wait for it.
  // `change` comes from ending_change().
  Task<Result<store::Receipt>> commit_ending(store::Change change);

  // What to claim from when a job of this record leaves its worker.
  std::vector<std::vector<std::string>> room_left_by(const job::Record& record) const;

  // Publishes messages of commits whose owner did not.
  Task<void> publish_orphans(WallTime stored_before);

  WaitBoard& board() { return board_; }

 private:
  Task<Result<store::Receipt>> follow(store::Answer<store::Receipt> answer,
                                      std::vector<store::Message> messages);
  Task<Result<store::Receipt>> follow_ending(Task<Result<store::Receipt>> committing);
  Task<void> publish_messages(std::vector<store::Message> messages,
                              std::vector<Sequence> sequences);

  Replica& replica_;
  OnClaimed on_claimed_;
  WaitBoard board_;
};

}  // namespace fairlead::scheduler
