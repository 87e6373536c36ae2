#include "tests/behaviour/story_store.h"

#include <algorithm>

namespace fairlead::behaviour {

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
  if (fault == Fault::kFail) return fail(ErrorCode::kUnavailable, "the story says so");
  (void)store_->apply(std::move(change));
  return fail(ErrorCode::kUnknown, "the story says so");
}

}  // namespace fairlead::behaviour
