#include "sim/faulty_store.h"

namespace fairlead::sim {

using store::Answer;

template <class T>
Answer<T> FaultyStore::call(std::function<Result<T>()> effect) {
  if (world_.strikes(world_.options.store_error, "store error")) {
    return fail(ErrorCode::kUnavailable, "simulated: the store did not take the call");
  }
  bool crash_before = world_.strikes(world_.options.store_crash, "crash before a store call");
  bool crash_after =
      !crash_before && world_.strikes(world_.options.store_crash, "crash after a store call");
  bool unknown = world_.strikes(world_.options.store_unknown, "store answer lost");
  Completer<Result<T>> completer;
  Answer<T> answer = completer.future();
  if (crash_before) {
    crash_();
    return answer;
  }

  last_effect_ =
      std::max(last_effect_, world_.loop.now() + world_.delay(world_.options.store_delay_max));
  Duration way_back = world_.delay(world_.options.store_delay_max);
  if (crash_after) {
    // The call is on the wire; whether it arrives does not depend on its sender any more.
    world_.loop.call_at(last_effect_, [effect = std::move(effect)] { (void)effect(); });
    crash_();
    return answer;
  }
  auto shared = std::make_shared<Completer<Result<T>>>(std::move(completer));
  world_.loop.call_at(last_effect_, [world = &world_, process = process_,
                                     effect = std::move(effect), shared, unknown, way_back] {
    if (process.expired() && world->random.chance(2)) return;
    Result<T> result = effect();
    if (unknown) result = fail(ErrorCode::kUnknown, "simulated: the answer was lost");
    world->loop.call_at(world->loop.now() + way_back,
                        [process, shared, result = std::move(result)]() mutable {
                          Process::run(process, [shared, result = std::move(result)]() mutable {
                            shared->complete(std::move(result));
                          });
                        });
  });
  return answer;
}

Answer<store::Loaded> FaultyStore::load(const JobId& job, store::LoadOptions options) {
  return call<store::Loaded>(
      [&shared = shared_, job, options] { return answer_now(shared.load(job, options)); });
}

Answer<store::Receipt> FaultyStore::apply(store::Change change) {
  return call<store::Receipt>([&shared = shared_, &observer = world_.observer, trace = world_.trace,
                               change = std::move(change)] {
    store::Snapshot before = answer_now(shared.load(change.next->id, {}))->record;
    Result<store::Receipt> receipt = answer_now(shared.apply(change));
    if (receipt && !std::holds_alternative<store::Applied>(*receipt)) {
      trace("not applied: " + change.next->id.str() + " " + job::to_string(change.next->state) +
            " receipt " + std::to_string(receipt->index()));
    }
    if (receipt && std::holds_alternative<store::Applied>(*receipt)) {
      for (const store::Claim& claim : std::get<store::Applied>(*receipt).claimed) {
        trace("claim " + claim.job.str() + " with a commit");
      }
      trace("commit " + change.next->id.str() + " " + job::to_string(change.next->state) +
            " epoch " + std::to_string(change.next->epoch.value()) + " " +
            change.next->assignee.str() +
            (change.next->wait ? " waits " + change.next->wait->wait_class : ""));
      observer.committed(before, change);
    }
    return receipt;
  });
}

Answer<store::Page> FaultyStore::scan(store::Query query) {
  return call<store::Page>([&shared = shared_, query] { return answer_now(shared.scan(query)); });
}

Answer<std::vector<store::Claim>> FaultyStore::claim(store::Claims claims) {
  return call<std::vector<store::Claim>>([&shared = shared_, trace = world_.trace, claims] {
    auto claimed = answer_now(shared.claim(claims));
    for (const store::Claim& claim : *claimed) trace("claim " + claim.job.str());
    return claimed;
  });
}

Answer<void> FaultyStore::unclaim(const JobId& job, Duration pause) {
  return call<void>([&shared = shared_, trace = world_.trace, job, pause] {
    trace("unclaim " + job.str() + " for " + std::to_string(pause.count()) + " us");
    return answer_now(shared.unclaim(job, pause));
  });
}

Answer<std::vector<store::WaitClassView>> FaultyStore::waiting(std::string after, size_t limit) {
  return call<std::vector<store::WaitClassView>>(
      [&shared = shared_, after = std::move(after), limit] {
        return answer_now(shared.waiting(after, limit));
      });
}

size_t FaultyStore::waiting_in(std::string_view wait_class) const {
  return shared_.waiting_in(wait_class);
}

Answer<store::Queues> FaultyStore::queues() {
  return call<store::Queues>([&shared = shared_] { return answer_now(shared.queues()); });
}

Answer<std::optional<JobId>> FaultyStore::key_holder(const TenantId& tenant, std::string key) {
  return call<std::optional<JobId>>(
      [&shared = shared_, tenant, key] { return answer_now(shared.key_holder(tenant, key)); });
}

Answer<bool> FaultyStore::acquire(std::string key, store::LeaseRequest lease) {
  return call<bool>(
      [&shared = shared_, key, lease] { return answer_now(shared.acquire(key, lease)); });
}

Answer<bool> FaultyStore::renew(std::string key, store::LeaseRequest lease) {
  return call<bool>(
      [&shared = shared_, key, lease] { return answer_now(shared.renew(key, lease)); });
}

Answer<void> FaultyStore::release(std::string key, std::string token) {
  return call<void>(
      [&shared = shared_, key, token] { return answer_now(shared.release(key, token)); });
}

Answer<WallTime> FaultyStore::sign_of_life(std::string replica) {
  return call<WallTime>(
      [&shared = shared_, replica] { return answer_now(shared.sign_of_life(replica)); });
}

Answer<Sequence> FaultyStore::enqueue(store::Message message, WallTime now) {
  return call<Sequence>(
      [&shared = shared_, message, now] { return answer_now(shared.enqueue(message, now)); });
}

Answer<void> FaultyStore::forget(std::vector<Sequence> messages) {
  return call<void>([&shared = shared_, messages] { return answer_now(shared.forget(messages)); });
}

Answer<std::vector<store::StoredMessage>> FaultyStore::orphans(Duration age, size_t limit) {
  return call<std::vector<store::StoredMessage>>(
      [&shared = shared_, age, limit] { return answer_now(shared.orphans(age, limit)); });
}

Answer<std::vector<store::StoredMessage>> FaultyStore::queued(size_t limit) {
  return call<std::vector<store::StoredMessage>>(
      [&shared = shared_, limit] { return answer_now(shared.queued(limit)); });
}

Answer<std::vector<bool>> FaultyStore::processed(std::vector<std::string> marks) {
  return call<std::vector<bool>>(
      [&shared = shared_, marks] { return answer_now(shared.processed(marks)); });
}

Answer<Sequence> FaultyStore::reserve_sequences(uint64_t count) {
  return call<Sequence>(
      [&shared = shared_, count] { return answer_now(shared.reserve_sequences(count)); });
}

Answer<std::vector<store::Timer>> FaultyStore::due_timers(WallTime now, size_t limit) {
  return call<std::vector<store::Timer>>(
      [&shared = shared_, now, limit] { return answer_now(shared.due_timers(now, limit)); });
}

Answer<void> FaultyStore::put_dead_letter(store::DeadLetter entry) {
  return call<void>(
      [&shared = shared_, entry] { return answer_now(shared.put_dead_letter(entry)); });
}

Answer<std::optional<store::DeadLetter>> FaultyStore::dead_letter(const JobId& job) {
  return call<std::optional<store::DeadLetter>>(
      [&shared = shared_, job] { return answer_now(shared.dead_letter(job)); });
}

Answer<std::vector<store::DeadLetter>> FaultyStore::dead_letters(std::string cursor, size_t limit) {
  return call<std::vector<store::DeadLetter>>([&shared = shared_, cursor, limit] {
    return answer_now(shared.dead_letters(cursor, limit));
  });
}

Answer<bool> FaultyStore::erase_dead_letter(const JobId& job) {
  return call<bool>([&shared = shared_, job] { return answer_now(shared.erase_dead_letter(job)); });
}

Answer<bool> FaultyStore::put_blob(std::string key, store::Blob blob,
                                   store::BlobCondition condition) {
  return call<bool>([&shared = shared_, key, blob, condition] {
    return answer_now(shared.put_blob(key, blob, condition));
  });
}

Answer<bool> FaultyStore::swap_blob(std::string key, std::optional<std::string> expected,
                                    store::Blob blob) {
  return call<bool>([&shared = shared_, key, expected, blob] {
    return answer_now(shared.swap_blob(key, expected, blob));
  });
}

Answer<std::optional<store::Blob>> FaultyStore::blob(std::string key) {
  return call<std::optional<store::Blob>>(
      [&shared = shared_, key] { return answer_now(shared.blob(key)); });
}

Answer<bool> FaultyStore::erase_blob(std::string key) {
  return call<bool>([&shared = shared_, key] { return answer_now(shared.erase_blob(key)); });
}

Answer<int64_t> FaultyStore::add(std::string counter, int64_t delta) {
  return call<int64_t>(
      [&shared = shared_, counter, delta] { return answer_now(shared.add(counter, delta)); });
}

Answer<void> FaultyStore::put_workers(store::Blob snapshot, std::vector<WorkerId> alive) {
  return call<void>([&shared = shared_, snapshot, alive] {
    return answer_now(shared.put_workers(snapshot, alive));
  });
}

Answer<store::BreakerAnswer> FaultyStore::breaker(std::string name, store::BreakerEvent event,
                                                  WallTime now) {
  return call<store::BreakerAnswer>([&shared = shared_, name, event, now] {
    return answer_now(shared.breaker(name, event, now));
  });
}

Answer<size_t> FaultyStore::retire(WallTime now, size_t limit) {
  return call<size_t>(
      [&shared = shared_, now, limit] { return answer_now(shared.retire(now, limit)); });
}

}  // namespace fairlead::sim
