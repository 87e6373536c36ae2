#include "scheduler/commits.h"

#include "base/planted.h"
#include "scheduler/ending.h"

namespace fairlead::scheduler {

Task<Result<store::Receipt>> Commits::commit(store::Change change) {
  std::vector<store::Message> messages = change.messages;
  std::optional<job::Record> shown;
  if (replica_.watcher) shown = change.next;
  std::optional<JobId> freed;
  if (!job::holds_worker_slot(change.next)) freed = change.next.id;
  Result<store::Receipt> receipt = co_await replica_.store.apply(std::move(change));
  if (!receipt) co_return receipt;
  if (auto* refused = std::get_if<store::Refused>(&*receipt)) {
    replica_.metrics.add(Counter::kTransitionsRefused);
    replica_.log.error("invalid transition",
                       {{"from", refused->from ? job::to_string(*refused->from) : "none"},
                        {"to", job::to_string(refused->to)}});
  }
  auto* applied = std::get_if<store::Applied>(&*receipt);
  if (!applied) co_return receipt;
  if (freed) replica_.registry.release(*freed);
  if (shown && replica_.watcher) {
    shown->revision = applied->revision;
    replica_.watcher(*shown);
  }
  if (!messages.empty()) {
    replica_.nursery.spawn(publish_messages(std::move(messages), applied->messages));
  }
  if (!planted(PlantedBug::kWakeUpLost)) {
    for (store::Claim& claim : applied->claimed) on_claimed_(std::move(claim));
  }
  co_return receipt;
}

Task<Result<store::Receipt>> Commits::commit_ending(store::Change change) {
  job::State state = change.next.state;
  Topic topic = change.next.topic;
  change.claim_from = room_left_by(change.next);
  Result<store::Receipt> receipt = co_await commit(std::move(change));
  if (receipt && std::holds_alternative<store::Applied>(*receipt)) {
    replica_.metrics.add(Counter::kJobsCompleted, topic.str(), status_name(state));
  }
  co_return receipt;
}

std::vector<std::vector<std::string>> Commits::room_left_by(const job::Record& record) const {
  if (record.assignee.empty()) return board_.groups(nullptr, record.tenant);
  const routing::WorkerView* worker = replica_.registry.find(record.assignee);
  return board_.groups(worker ? &worker->report : nullptr, record.tenant);
}

Task<void> Commits::publish_messages(std::vector<store::Message> messages,
                                     std::vector<Sequence> sequences) {
  std::vector<Sequence> done;
  for (size_t i = 0; i < messages.size(); ++i) {
    store::Message& message = messages[i];
    Result<bus::Published> published =
        co_await replica_.bus.publish(message.subject, std::move(message.payload), message.id);
    if (published && *published == bus::Published::kStored) {
      done.push_back(sequences[i]);
    } else {
      replica_.metrics.add(Counter::kDlqEmitFailures);
    }
  }
  // Not awaited: a message that is not forgotten is published again, under the same id.
  if (!done.empty()) (void)replica_.store.forget(std::move(done));
}

Task<void> Commits::publish_orphans(WallTime stored_before) {
  auto orphans = co_await replica_.store.orphans(stored_before, limits::kSweepBatch);
  if (!orphans) co_return;
  std::vector<store::Message> messages;
  std::vector<Sequence> sequences;
  for (store::StoredMessage& orphan : *orphans) {
    if (orphan.queued) continue;  // the bus delivers those itself
    messages.push_back(std::move(orphan.message));
    sequences.push_back(orphan.sequence);
  }
  co_await publish_messages(std::move(messages), std::move(sequences));
}

}  // namespace fairlead::scheduler
