// For tests: a store that keeps messages and nothing else, whose answers can be held back or made
// to fail. Like any store it outlives the bus that is dropped on it.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "runtime/clock.h"
#include "store/store.h"

namespace fairlead::bus {

class MessagesOnlyStore final : public store::Store {
 public:
  template <class T>
  using Answer = store::Answer<T>;

  explicit MessagesOnlyStore(const Clock&) {}

  std::optional<Error> enqueue_error;
  std::optional<Error> forget_error;
  std::optional<Error> reserve_error;
  bool hold_answers = false;  // of enqueue, until give_answers()
  std::map<Sequence, store::Message> messages;
  std::map<Sequence, WallTime> stored_at;
  size_t reservations = 0;

  void give_answers() {
    for (auto& [answer, value] : std::exchange(held_, {})) answer.complete(value);
  }

  Answer<Sequence> enqueue(store::Message message, WallTime now) override {
    if (enqueue_error) return std::unexpected(*enqueue_error);
    Sequence sequence(++sequences_);
    messages[sequence] = std::move(message);
    stored_at[sequence] = now;
    if (!hold_answers) return sequence;
    held_.emplace_back(Completer<Result<Sequence>>(), sequence);
    return held_.back().first.future();
  }
  Answer<void> forget(std::vector<Sequence> forgotten) override {
    if (forget_error) return std::unexpected(*forget_error);
    for (Sequence sequence : forgotten) messages.erase(sequence);
    return Result<void>{};
  }
  Answer<std::vector<store::StoredMessage>> orphans(Duration, size_t) override { return no(); }
  Answer<std::vector<store::StoredMessage>> queued(size_t limit) override {
    std::vector<store::StoredMessage> found;
    for (const auto& [sequence, message] : messages) {
      if (found.size() < limit) found.push_back({sequence, message, true, stored_at.at(sequence)});
    }
    return found;
  }
  Answer<Sequence> reserve_sequences(uint64_t count) override {
    ++reservations;
    if (reserve_error) return std::unexpected(*reserve_error);
    return Sequence(std::exchange(sequences_, sequences_ + count) + 1);
  }

  Answer<store::Loaded> load(const JobId&, store::LoadOptions) override { return no(); }
  Answer<store::Receipt> apply(store::Change) override { return no(); }
  Answer<store::Page> scan(store::Query) override { return no(); }
  Answer<std::vector<store::Claim>> claim(store::Claims) override { return no(); }
  Answer<void> unclaim(const JobId&, Duration) override { return no(); }
  Answer<std::vector<store::WaitClassView>> waiting(std::string, size_t) override { return no(); }
  size_t waiting_in(std::string_view) const override { return 0; }
  size_t jobs_in(job::State) const override { return 0; }
  Answer<store::Queues> queues() override { return no(); }
  Answer<std::optional<JobId>> key_holder(const TenantId&, std::string) override { return no(); }
  Answer<bool> acquire(std::string, store::LeaseRequest) override { return no(); }
  Answer<bool> renew(std::string, store::LeaseRequest) override { return no(); }
  Answer<void> release(std::string, std::string) override { return no(); }
  Answer<WallTime> sign_of_life(std::string) override { return no(); }
  Answer<std::vector<store::Timer>> due_timers(WallTime, size_t) override { return no(); }
  Answer<void> put_dead_letter(store::DeadLetter) override { return no(); }
  Answer<std::optional<store::DeadLetter>> dead_letter(const JobId&) override { return no(); }
  Answer<std::vector<store::DeadLetter>> dead_letters(std::string, size_t) override { return no(); }
  Answer<bool> erase_dead_letter(const JobId&) override { return no(); }
  Answer<bool> put_blob(std::string, store::Blob, store::BlobCondition) override { return no(); }
  Answer<std::optional<store::Blob>> blob(std::string, size_t) override { return no(); }
  Answer<bool> erase_blob(std::string) override { return no(); }
  Answer<int64_t> add(std::string, int64_t) override { return no(); }
  Answer<std::vector<bool>> processed(std::vector<std::string>) override { return no(); }
  Answer<bool> swap_blob(std::string, std::optional<std::string>, store::Blob) override {
    return no();
  }
  Answer<void> put_workers(store::Blob, std::vector<WorkerId>) override { return no(); }
  Answer<store::BreakerAnswer> breaker(std::string, store::BreakerEvent, WallTime) override {
    return no();
  }
  Answer<size_t> retire(WallTime, size_t) override { return no(); }

 private:
  static std::unexpected<Error> no() { return fail(ErrorCode::kInvalid, "messages only"); }

  uint64_t sequences_ = 0;
  std::vector<std::pair<Completer<Result<Sequence>>, Sequence>> held_;
};

}  // namespace fairlead::bus
