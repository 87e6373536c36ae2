// One replica's way to the shared store. Calls take effect in the order they were made, later than
// they were made; the answer comes later still, or not at all. What is on its way to a server that
// fails over never arrives.
#pragma once

#include <memory>

#include "sim/network.h"
#include "sim/sim_store.h"

namespace fairlead::sim {

class FaultyStore final : public store::Store {
 public:
  // `crash` ends the replica that makes the call.
  FaultyStore(WorldPlugs& world, SimStore& shared, std::weak_ptr<Process> process,
              std::function<void()> crash)
      : world_(world), shared_(shared), process_(std::move(process)), crash_(std::move(crash)) {}

  store::Answer<store::Loaded> load(const JobId& job, store::LoadOptions options) override;
  store::Answer<store::Receipt> apply(store::Change change) override;
  store::Answer<store::Page> scan(store::Query query) override;
  store::Answer<std::vector<store::Claim>> claim(store::Claims claims) override;
  store::Answer<void> unclaim(const JobId& job, Duration pause) override;
  store::Answer<std::vector<store::WaitClassView>> waiting(std::string after,
                                                           size_t limit) override;
  size_t waiting_in(std::string_view wait_class) const override;
  size_t jobs_in(job::State state) const override { return shared_->jobs_in(state); }
  store::Answer<store::Queues> queues() override;
  store::Answer<std::optional<JobId>> key_holder(const TenantId& tenant, std::string key) override;
  store::Answer<bool> acquire(std::string key, store::LeaseRequest lease) override;
  store::Answer<bool> renew(std::string key, store::LeaseRequest lease) override;
  store::Answer<void> release(std::string key, std::string token) override;
  store::Answer<WallTime> sign_of_life(std::string replica) override;
  store::Answer<Sequence> enqueue(store::Message message, WallTime now) override;
  store::Answer<void> forget(std::vector<Sequence> messages) override;
  store::Answer<std::vector<store::StoredMessage>> orphans(Duration age, size_t limit) override;
  store::Answer<std::vector<store::StoredMessage>> queued(size_t limit) override;
  store::Answer<std::vector<bool>> processed(std::vector<std::string> marks) override;
  store::Answer<Sequence> reserve_sequences(uint64_t count) override;
  store::Answer<std::vector<store::Timer>> due_timers(WallTime now, size_t limit) override;
  store::Answer<void> put_dead_letter(store::DeadLetter entry) override;
  store::Answer<std::optional<store::DeadLetter>> dead_letter(const JobId& job) override;
  store::Answer<std::vector<store::DeadLetter>> dead_letters(std::string cursor,
                                                             size_t limit) override;
  store::Answer<bool> erase_dead_letter(const JobId& job) override;
  store::Answer<bool> put_blob(std::string key, store::Blob blob,
                               store::BlobCondition condition) override;
  store::Answer<bool> swap_blob(std::string key, std::optional<std::string> expected,
                                store::Blob blob) override;
  store::Answer<std::optional<store::Blob>> blob(std::string key,
                                                 size_t max = limits::kBlobBytesMax) override;
  store::Answer<bool> erase_blob(std::string key) override;
  store::Answer<int64_t> add(std::string counter, int64_t delta) override;
  store::Answer<void> put_workers(store::Blob snapshot, std::vector<WorkerId> alive) override;
  store::Answer<store::BreakerAnswer> breaker(std::string name, store::BreakerEvent event,
                                              WallTime now) override;
  store::Answer<size_t> retire(WallTime now, size_t limit) override;
  WallTime rewound_at() const override { return rewound_at_; }

 private:
  // Sends a call over the network. `effect` runs at the store and gives its answer.
  template <class T>
  store::Answer<T> call(SimStore::Effect<T> effect);

  WorldPlugs& world_;
  SimStore& shared_;
  std::weak_ptr<Process> process_;
  std::function<void()> crash_;
  MonotonicTime last_effect_{};
  WallTime rewound_at_;  // of the server that answered last
};

// Takes the value out of an answer of the memory store, which is always there at once.
template <class T>
Result<T> answer_now(store::Answer<T> answer) {
  check(answer.await_ready(), "a memory store answers at once");
  return answer.await_resume();
}

}  // namespace fairlead::sim
