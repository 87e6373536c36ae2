#include "store/rocksdb/operations.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/limits.h"

namespace fairlead::store {

Operations::Operations(Database& database, const RocksOptions& options, Loop& loop,
                       std::function<void()> settled)
    : options_(options),
      loop_(loop),
      settled_(std::move(settled)),
      self_(std::make_shared<Operations*>(this)) {
  auto report = [&loop, self = std::weak_ptr(self_)](uint64_t operation) {
    loop.post([self, operation] {
      if (auto alive = self.lock()) (*alive)->complete_until(operation);
    });
  };
  committer_ = std::make_unique<Committer>(database, options, loop, std::move(report));
}

Operations::~Operations() {
  hand_over();
}

std::optional<Error> Operations::push_back(bool new_work) const {
  if (waiting_.size() >= limits::kCommitQueueMax ||
      waiting_bytes_ >= limits::kCommitQueueBytesMax) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("busy: {} changes wait for the disk", waiting_.size())};
  }
  if (!new_work) return std::nullopt;
  uint64_t free = committer_->free_bytes();
  if (free >= options_.disk_reserve_bytes) return std::nullopt;
  return Error{ErrorCode::kFull,
               fmt::format("data folder {} has {} MB free, below the reserve of {} MB; new work is "
                           "refused until there is space, running jobs may still end",
                           options_.path, free >> 20, options_.disk_reserve_bytes >> 20)};
}

Committer::Step& Operations::step() {
  if (turn_.empty() || turn_.back().task) turn_.emplace_back();
  return turn_.back();
}

Puts& Operations::puts() {
  return step().puts;
}

void Operations::enlist(std::move_only_function<void()> complete, size_t bytes, Haste haste) {
  ++last_;
  waiting_.push_back({std::move(complete), bytes});
  waiting_bytes_ += bytes;
  if (last_ - handed_over_ >= limits::kHandOverEarly && committer_->idle()) return hand_over();
  if (hand_over_posted_) return;
  if (haste == Haste::kNone) return put_off();
  if (put_off_) loop_.cancel(*std::exchange(put_off_, {}));
  hand_over_posted_ = true;
  loop_.post([self = std::weak_ptr(self_)] {
    auto alive = self.lock();
    if (!alive) return;
    (*alive)->hand_over_posted_ = false;
    (*alive)->hand_over();
  });
}

void Operations::put_off() {
  if (put_off_) return;
  put_off_ = loop_.call_at(loop_.now() + limits::kCommitPutOffMax, [self = std::weak_ptr(self_)] {
    if (auto alive = self.lock()) (*alive)->hand_over();
  });
}

void Operations::hand_over() {
  if (put_off_) loop_.cancel(*std::exchange(put_off_, {}));
  if (last_ == handed_over_) return;
  handed_over_ = last_;
  std::vector<Committer::Step> next;
  if (!turn_.empty()) next.emplace_back().puts.reserve_like(turn_.front().puts);
  committer_->hand_over(std::exchange(turn_, std::move(next)), last_);
}

void Operations::complete_until(uint64_t operation) {
  uint64_t count = operation - durable_;
  durable_ = operation;
  for (; count > 0; --count) {
    Waiting done = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= done.bytes;
    done.complete();
  }
  settled_();
}

}  // namespace fairlead::store
