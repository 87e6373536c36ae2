#include "scheduler/commits.h"

#include "base/planted.h"
#include "job/request.h"
#include "scheduler/ending.h"

namespace fairlead::scheduler {

// Changes are large and tasks live long: the change goes to the store before a task is made.
Task<Result<store::Receipt>> Commits::commit(store::Change change) {
  std::vector<store::Message> messages = change.messages;
  return follow(replica_.store.apply(std::move(change)), std::move(messages));
}

Task<Result<store::Receipt>> Commits::follow(store::Answer<store::Receipt> answer,
                                             std::vector<store::Message> messages) {
  Result<store::Receipt> receipt = co_await std::move(answer);
  if (!receipt) co_return receipt;
  if (auto* refused = std::get_if<store::Refused>(&*receipt)) {
    replica_.metrics.add(Counter::kTransitionsRefused);
    replica_.log.error("invalid transition",
                       {{"from", refused->from ? job::to_string(*refused->from) : "none"},
                        {"to", job::to_string(refused->to)}});
  }
  auto* applied = std::get_if<store::Applied>(&*receipt);
  if (!applied) co_return receipt;
  const job::Record& record = *applied->record;
  if (!job::holds_worker_slot(record)) replica_.registry.release(record.id);
  if (replica_.watcher) replica_.watcher(applied->record);
  if (!messages.empty()) {
    replica_.nursery.spawn(publish_messages(std::move(messages), applied->messages));
  }
  if (!planted(PlantedBug::kWakeUpLost)) {
    for (store::Claim& claim : applied->claimed) hooks_.on_claimed(std::move(claim));
  }
  co_return receipt;
}

Task<Result<store::Receipt>> Commits::commit_ending(store::Change change) {
  change.claim_from = room_left_by(*change.next);
  return follow_ending(commit(std::move(change)));
}

Task<Result<store::Receipt>> Commits::follow_ending(Task<Result<store::Receipt>> committing) {
  Result<store::Receipt> receipt = co_await std::move(committing);
  if (auto* applied = receipt ? std::get_if<store::Applied>(&*receipt) : nullptr) {
    const job::Record& record = *applied->record;
    replica_.metrics.add(Counter::kJobsCompleted, replica_.label_of(record.topic),
                         status_name(record.state));
  }
  co_return receipt;
}

std::vector<std::vector<std::string>> Commits::room_left_by(const job::Record& record) const {
  if (record.assignee.empty()) return board_.groups(nullptr, record.tenant);
  const routing::WorkerView* worker = replica_.registry.find(record.assignee);
  return board_.groups(worker ? &worker->report : nullptr, record.tenant);
}

void Commits::joined(std::string wait_class, WallTime now) {
  board_.add(wait_class, now);
  wake(std::move(wait_class));
}

Task<void> Commits::publish_messages(std::vector<store::Message> messages,
                                     std::vector<Sequence> sequences) {
  std::vector<Sequence> done;
  std::vector<size_t> again;
  for (size_t i = 0; i < messages.size(); ++i) {
    const bool dead_letter = messages[i].subject == bus::kDeadLetterSubject;
    if (co_await publish(dead_letter ? messages[i] : std::move(messages[i]))) {
      done.push_back(sequences[i]);
    } else if (dead_letter) {
      again.push_back(i);
    }
  }
  const bool waited = again.empty() || co_await replica_.loop.delay(limits::kRetryDeadLetter);
  for (size_t i : again) {
    if (!waited) break;
    JobId job(job::peek_job_id(messages[i].payload));
    if (co_await publish(std::move(messages[i]))) {
      done.push_back(sequences[i]);
    } else {
      co_await count_emit_failure(std::move(job));
    }
  }
  // Not awaited: a message that is not forgotten is published again, under the same id.
  if (!done.empty()) (void)replica_.store.forget(std::move(done));
}

Task<bool> Commits::publish(store::Message message) {
  Result<bus::Published> published = co_await replica_.bus.publish(
      std::move(message.subject), std::move(message.payload), std::move(message.id));
  co_return (published && *published == bus::Published::kStored) ||
      planted(PlantedBug::kRefusedMessageForgotten);
}

Task<void> Commits::count_emit_failure(JobId job) {
  Result<store::Loaded> loaded = co_await replica_.store.load(job, {});
  Topic topic = loaded && loaded->record ? loaded->record->topic : Topic();
  replica_.metrics.add(Counter::kDlqEmitFailures, replica_.label_of(topic));
}

Task<void> Commits::publish_orphans() {
  if (planted(PlantedBug::kOrphansNeverPublished)) co_return;
  const WallTime now = replica_.clock.wall();
  auto orphans = co_await replica_.store.orphans(limits::kOrphanAfter, limits::kSweepBatch);
  if (!orphans) co_return;
  std::vector<store::Message> messages;
  std::vector<Sequence> sequences, given_up;
  for (store::StoredMessage& orphan : *orphans) {
    if (orphan.stored_at < now - limits::kOutboxAgeMax) {
      given_up.push_back(orphan.sequence);
      replica_.log.warning("message given up that the bus did not take",
                           {{"subject", orphan.message.subject}, {"id", orphan.message.id}});
      continue;
    }
    messages.push_back(std::move(orphan.message));
    sequences.push_back(orphan.sequence);
  }
  if (!given_up.empty()) (void)replica_.store.forget(std::move(given_up));
  co_await publish_messages(std::move(messages), std::move(sequences));
}

}  // namespace fairlead::scheduler
