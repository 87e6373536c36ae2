#include "tests/behaviour/story_store.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::behaviour {

void StoryStore::attach(store::Store* store, IdleSweeps* idle, const Clock* clock) {
  tasks_.drop();
  store_ = store;
  idle_ = idle;
  clock_ = clock;
  changed();
}

void StoryStore::order(Fault fault, std::optional<job::State> state, size_t count) {
  for (; count > 0; --count) orders_.push_back({fault, state});
}

store::Answer<store::Loaded> StoryStore::load(const JobId& job, store::LoadOptions options) {
  if (failing_reads_ > 0) {
    --failing_reads_;
    return fail(ErrorCode::kUnavailable, "the story says so");
  }
  changed();
  return store_->load(job, std::move(options));
}

// --- Sweeps --------------------------------------------------------------------------------------

store::Answer<store::Page> StoryStore::scan(store::Query query) {
  if (idle_ && idle_->finds_nothing(query, clock_->wall())) return store::Page{};
  return store_->scan(std::move(query));
}

store::Answer<std::vector<store::Claim>> StoryStore::claim(store::Claims claims) {
  if (idle_ && claims.classes.empty() && idle_->claims_nothing(clock_->wall())) {
    return std::vector<store::Claim>{};
  }
  changed();
  return store_->claim(std::move(claims));
}

store::Answer<IdleSweeps::Classes> StoryStore::waiting(std::string after, size_t limit) {
  if (!idle_ || !after.empty()) return store_->waiting(std::move(after), limit);
  if (const IdleSweeps::Classes* known = idle_->waiting()) return *known;
  Completer<Result<IdleSweeps::Classes>> completer;
  auto later = completer.future();
  tasks_.spawn(keep_waiting(store_->waiting(std::move(after), limit), std::move(completer)));
  return later;
}

Task<void> StoryStore::keep_waiting(store::Answer<IdleSweeps::Classes> answer,
                                    Completer<Result<IdleSweeps::Classes>> later) {
  Result<IdleSweeps::Classes> classes = co_await answer;
  if (classes) idle_->keep_waiting(*classes);
  later.complete(std::move(classes));
}

// --- Changes -------------------------------------------------------------------------------------

store::Answer<store::Receipt> StoryStore::apply(store::Change change) {
  auto strikes = [&](const Order& order) {
    return !order.state || (!change.path.empty() && change.next->state == *order.state);
  };
  auto order = std::ranges::find_if(orders_, strikes);
  changed();
  if (order == orders_.end()) return store_->apply(std::move(change));
  Fault fault = order->fault;
  orders_.erase(order);
  switch (fault) {
    case Fault::kFail:
      return fail(ErrorCode::kUnavailable, "the story says so");
    case Fault::kLoseAnswer:
      (void)store_->apply(std::move(change));
      return fail(ErrorCode::kUnknown, "the story says so");
    case Fault::kOvertake: {
      Completer<Result<store::Receipt>> completer;
      auto answer = completer.future();
      tasks_.spawn(overtake(std::move(change), std::move(completer)));
      return answer;
    }
  }
  return fail(ErrorCode::kUnknown, "there is no such fault");
}

Task<void> StoryStore::overtake(store::Change change, Completer<Result<store::Receipt>> answer) {
  auto loaded = co_await store_->load(change.next->id, {});
  store::Change other;
  other.guard.revision = loaded->record->revision;
  *other.next = *loaded->record;
  job::add_event(*other.next, other.next->updated_at, "written by somebody else");
  auto written = co_await store_->apply(std::move(other));
  check(written && std::holds_alternative<store::Applied>(*written), "the other write is made");
  auto receipt = co_await store_->apply(std::move(change));
  answer.complete(std::move(receipt));
}

}  // namespace fairlead::behaviour
