// The store as the scheduler of a story sees it: a real one, with faults on order.
#pragma once

#include <deque>
#include <optional>

#include "runtime/clock.h"
#include "runtime/nursery.h"
#include "store/store.h"
#include "tests/behaviour/idle_sweeps.h"

namespace fairlead::behaviour {

class StoryStore final : public store::Store {
 public:
  enum class Fault {
    kFail,        // nothing is written
    kLoseAnswer,  // it is written, and nobody is told
    kOvertake,    // somebody writes something else to the record just before
  };

  // The store that calls go to; nullptr while the process is down. With `idle`, of which `clock` is
  // the time, sweeps that would find nothing do not ask it.
  void attach(store::Store* store, IdleSweeps* idle = nullptr, const Clock* clock = nullptr);

  // Strikes the next `count` changes, or those that lead to the state.
  void order(Fault fault, std::optional<job::State> state, size_t count);
  void fail_reads(size_t count) { failing_reads_ += count; }
  size_t orders_left() const { return orders_.size() + failing_reads_; }

  store::Answer<store::Loaded> load(const JobId& job, store::LoadOptions options) override;
  store::Answer<store::Receipt> apply(store::Change change) override;

  store::Answer<store::Page> scan(store::Query query) override;
  store::Answer<std::vector<store::Claim>> claim(store::Claims claims) override;
  store::Answer<void> unclaim(const JobId& job, Duration pause) override {
    changed();
    return store_->unclaim(job, pause);
  }
  store::Answer<std::vector<store::WaitClassView>> waiting(std::string after,
                                                           size_t limit) override;
  size_t waiting_in(std::string_view wait_class) const override {
    return store_->waiting_in(wait_class);
  }
  size_t jobs_in(job::State state) const override { return store_->jobs_in(state); }
  store::Answer<store::Queues> queues() override { return store_->queues(); }
  store::Answer<std::optional<JobId>> key_holder(const TenantId& tenant, std::string key) override {
    return store_->key_holder(tenant, std::move(key));
  }
  store::Answer<bool> acquire(std::string key, store::LeaseRequest lease) override {
    return store_->acquire(std::move(key), std::move(lease));
  }
  store::Answer<bool> renew(std::string key, store::LeaseRequest lease) override {
    return store_->renew(std::move(key), std::move(lease));
  }
  store::Answer<void> release(std::string key, std::string token) override {
    return store_->release(std::move(key), std::move(token));
  }
  store::Answer<WallTime> sign_of_life(std::string replica) override {
    return store_->sign_of_life(std::move(replica));
  }
  store::Answer<Sequence> enqueue(store::Message message, WallTime now) override {
    return store_->enqueue(std::move(message), now);
  }
  store::Answer<void> forget(std::vector<Sequence> messages) override {
    return store_->forget(std::move(messages));
  }
  store::Answer<std::vector<store::StoredMessage>> orphans(Duration age, size_t limit) override {
    return store_->orphans(age, limit);
  }
  store::Answer<std::vector<store::StoredMessage>> queued(size_t limit) override {
    return store_->queued(limit);
  }
  store::Answer<std::vector<bool>> processed(std::vector<std::string> marks) override {
    return store_->processed(std::move(marks));
  }
  store::Answer<Sequence> reserve_sequences(uint64_t count) override {
    return store_->reserve_sequences(count);
  }
  store::Answer<std::vector<store::Timer>> due_timers(WallTime now, size_t limit) override {
    return store_->due_timers(now, limit);
  }
  store::Answer<void> put_dead_letter(store::DeadLetter entry) override {
    return store_->put_dead_letter(std::move(entry));
  }
  store::Answer<std::optional<store::DeadLetter>> dead_letter(const JobId& job) override {
    return store_->dead_letter(job);
  }
  store::Answer<std::vector<store::DeadLetter>> dead_letters(std::string cursor,
                                                             size_t limit) override {
    return store_->dead_letters(std::move(cursor), limit);
  }
  store::Answer<bool> erase_dead_letter(const JobId& job) override {
    return store_->erase_dead_letter(job);
  }
  store::Answer<bool> put_blob(std::string key, store::Blob blob,
                               store::BlobCondition condition) override {
    return store_->put_blob(std::move(key), std::move(blob), condition);
  }
  store::Answer<bool> swap_blob(std::string key, std::optional<std::string> expected,
                                store::Blob blob) override {
    return store_->swap_blob(std::move(key), std::move(expected), std::move(blob));
  }
  store::Answer<std::optional<store::Blob>> blob(std::string key, size_t max) override {
    return store_->blob(std::move(key), max);
  }
  store::Answer<bool> erase_blob(std::string key) override {
    return store_->erase_blob(std::move(key));
  }
  store::Answer<int64_t> add(std::string counter, int64_t delta) override {
    return store_->add(std::move(counter), delta);
  }
  store::Answer<void> put_workers(store::Blob snapshot, std::vector<WorkerId> alive) override {
    return store_->put_workers(std::move(snapshot), std::move(alive));
  }
  store::Answer<store::BreakerAnswer> breaker(std::string name, store::BreakerEvent event,
                                              WallTime now) override {
    return store_->breaker(std::move(name), event, now);
  }
  WallTime rewound_at() const override { return store_->rewound_at(); }
  store::Answer<size_t> retire(WallTime now, size_t limit) override {
    changed();
    return store_->retire(now, limit);
  }

 private:
  struct Order {
    Fault fault;
    std::optional<job::State> state;
  };

  void changed() {
    if (idle_) idle_->changed();
  }
  Task<void> keep_waiting(store::Answer<IdleSweeps::Classes> answer,
                          Completer<Result<IdleSweeps::Classes>> later);
  Task<void> overtake(store::Change change, Completer<Result<store::Receipt>> answer);

  store::Store* store_ = nullptr;
  IdleSweeps* idle_ = nullptr;
  const Clock* clock_ = nullptr;
  std::deque<Order> orders_;
  size_t failing_reads_ = 0;
  Nursery tasks_;
};

}  // namespace fairlead::behaviour
