#include "tests/behaviour/story_store.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::behaviour {

void StoryStore::attach(store::Store* store) {
  tasks_.drop();
  store_ = store;
}

void StoryStore::order(Fault fault, std::optional<job::State> state, size_t count) {
  for (; count > 0; --count) orders_.push_back({fault, state});
}

store::Answer<store::Loaded> StoryStore::load(const JobId& job, store::LoadOptions options) {
  if (failing_reads_ > 0) {
    --failing_reads_;
    return fail(ErrorCode::kUnavailable, "the story says so");
  }
  return store_->load(job, std::move(options));
}

store::Answer<store::Receipt> StoryStore::apply(store::Change change) {
  auto strikes = [&](const Order& order) {
    return !order.state || (!change.path.empty() && change.next->state == *order.state);
  };
  auto order = std::ranges::find_if(orders_, strikes);
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
