#include "sim/faulty_store.h"

#include <algorithm>

namespace fairlead::sim {

using store::Answer;

template <class T>
Answer<T> FaultyStore::call(SimStore::Effect<T> effect) {
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
  auto at_store = [store = &shared_, server = shared_.server(),
                   effect = std::move(effect)]() -> Result<T> {
    if (store->server() == server) return store->run(effect);
    return fail(ErrorCode::kUnknown, "simulated: the server failed over");
  };
  if (crash_after) {
    // The call is on the wire; whether it arrives does not depend on its sender any more.
    world_.loop.call_at(last_effect_, [at_store = std::move(at_store)] { (void)at_store(); });
    crash_();
    return answer;
  }
  auto shared = std::make_shared<Completer<Result<T>>>(std::move(completer));
  world_.loop.call_at(last_effect_, [this, world = &world_, store = &shared_, process = process_,
                                     at_store = std::move(at_store), shared, unknown, way_back] {
    if (process.expired() && world->random.chance(2)) return;
    Result<T> result = at_store();
    if (unknown) result = fail(ErrorCode::kUnknown, "simulated: the answer was lost");
    auto arrive = [this, shared, rewound_at = store->rewound_at(),
                   result = std::move(result)]() mutable {
      rewound_at_ = std::max(rewound_at_, rewound_at);
      shared->complete(std::move(result));
    };
    world->loop.call_at(world->loop.now() + way_back,
                        [process, arrive = std::move(arrive)]() mutable {
                          // A process that lives has its way to the store.
                          Process::run(process, std::move(arrive));
                        });
  });
  return answer;
}

Answer<store::Loaded> FaultyStore::load(const JobId& job, store::LoadOptions options) {
  return call<store::Loaded>(
      [job, options](store::MemoryStore& store) { return answer_now(store.load(job, options)); });
}

Answer<store::Receipt> FaultyStore::apply(store::Change change) {
  return call<store::Receipt>([&shared = shared_, &observer = world_.observer, trace = world_.trace,
                               change = std::move(change)](store::MemoryStore& store) {
    store::Snapshot before = answer_now(store.load(change.next->id, {}))->record;
    Result<store::Receipt> receipt = answer_now(store.apply(change));
    if (shared.repeats()) return receipt;
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
  return call<store::Page>(
      [query](store::MemoryStore& store) { return answer_now(store.scan(query)); });
}

Answer<std::vector<store::Claim>> FaultyStore::claim(store::Claims claims) {
  return call<std::vector<store::Claim>>(
      [&shared = shared_, trace = world_.trace, claims](store::MemoryStore& store) {
        auto claimed = answer_now(store.claim(claims));
        if (shared.repeats()) return claimed;
        for (const store::Claim& claim : *claimed) trace("claim " + claim.job.str());
        return claimed;
      });
}

Answer<void> FaultyStore::unclaim(const JobId& job, Duration pause) {
  return call<void>(
      [&shared = shared_, trace = world_.trace, job, pause](store::MemoryStore& store) {
        if (!shared.repeats()) {
          trace("unclaim " + job.str() + " for " + std::to_string(pause.count()) + " us");
        }
        return answer_now(store.unclaim(job, pause));
      });
}

Answer<std::vector<store::WaitClassView>> FaultyStore::waiting(std::string after, size_t limit) {
  return call<std::vector<store::WaitClassView>>(
      [after = std::move(after), limit](store::MemoryStore& store) {
        return answer_now(store.waiting(after, limit));
      });
}

size_t FaultyStore::waiting_in(std::string_view wait_class) const {
  return shared_->waiting_in(wait_class);
}

Answer<store::Queues> FaultyStore::queues() {
  return call<store::Queues>([](store::MemoryStore& store) { return answer_now(store.queues()); });
}

Answer<std::optional<JobId>> FaultyStore::key_holder(const TenantId& tenant, std::string key) {
  return call<std::optional<JobId>>([tenant, key](store::MemoryStore& store) {
    return answer_now(store.key_holder(tenant, key));
  });
}

Answer<bool> FaultyStore::acquire(std::string key, store::LeaseRequest lease) {
  return call<bool>(
      [key, lease](store::MemoryStore& store) { return answer_now(store.acquire(key, lease)); });
}

Answer<bool> FaultyStore::renew(std::string key, store::LeaseRequest lease) {
  return call<bool>(
      [key, lease](store::MemoryStore& store) { return answer_now(store.renew(key, lease)); });
}

Answer<void> FaultyStore::release(std::string key, std::string token) {
  return call<void>(
      [key, token](store::MemoryStore& store) { return answer_now(store.release(key, token)); });
}

Answer<WallTime> FaultyStore::sign_of_life(std::string replica) {
  return call<WallTime>(
      [replica](store::MemoryStore& store) { return answer_now(store.sign_of_life(replica)); });
}

Answer<Sequence> FaultyStore::enqueue(store::Message message, WallTime now) {
  return call<Sequence>([message, now](store::MemoryStore& store) {
    return answer_now(store.enqueue(message, now));
  });
}

Answer<void> FaultyStore::forget(std::vector<Sequence> messages) {
  return call<void>(
      [messages](store::MemoryStore& store) { return answer_now(store.forget(messages)); });
}

Answer<std::vector<store::StoredMessage>> FaultyStore::orphans(Duration age, size_t limit) {
  return call<std::vector<store::StoredMessage>>(
      [age, limit](store::MemoryStore& store) { return answer_now(store.orphans(age, limit)); });
}

Answer<std::vector<store::StoredMessage>> FaultyStore::queued(size_t limit) {
  return call<std::vector<store::StoredMessage>>(
      [limit](store::MemoryStore& store) { return answer_now(store.queued(limit)); });
}

Answer<std::vector<bool>> FaultyStore::processed(std::vector<std::string> marks) {
  return call<std::vector<bool>>(
      [marks](store::MemoryStore& store) { return answer_now(store.processed(marks)); });
}

Answer<Sequence> FaultyStore::reserve_sequences(uint64_t count) {
  return call<Sequence>(
      [count](store::MemoryStore& store) { return answer_now(store.reserve_sequences(count)); });
}

Answer<std::vector<store::Timer>> FaultyStore::due_timers(WallTime now, size_t limit) {
  return call<std::vector<store::Timer>>(
      [now, limit](store::MemoryStore& store) { return answer_now(store.due_timers(now, limit)); });
}

Answer<void> FaultyStore::put_dead_letter(store::DeadLetter entry) {
  return call<void>(
      [entry](store::MemoryStore& store) { return answer_now(store.put_dead_letter(entry)); });
}

Answer<std::optional<store::DeadLetter>> FaultyStore::dead_letter(const JobId& job) {
  return call<std::optional<store::DeadLetter>>(
      [job](store::MemoryStore& store) { return answer_now(store.dead_letter(job)); });
}

Answer<std::vector<store::DeadLetter>> FaultyStore::dead_letters(std::string cursor, size_t limit) {
  return call<std::vector<store::DeadLetter>>([cursor, limit](store::MemoryStore& store) {
    return answer_now(store.dead_letters(cursor, limit));
  });
}

Answer<bool> FaultyStore::erase_dead_letter(const JobId& job) {
  return call<bool>(
      [job](store::MemoryStore& store) { return answer_now(store.erase_dead_letter(job)); });
}

Answer<bool> FaultyStore::put_blob(std::string key, store::Blob blob,
                                   store::BlobCondition condition) {
  return call<bool>([key, blob, condition](store::MemoryStore& store) {
    return answer_now(store.put_blob(key, blob, condition));
  });
}

Answer<bool> FaultyStore::swap_blob(std::string key, std::optional<std::string> expected,
                                    store::Blob blob) {
  return call<bool>([key, expected, blob](store::MemoryStore& store) {
    return answer_now(store.swap_blob(key, expected, blob));
  });
}

Answer<std::optional<store::Blob>> FaultyStore::blob(std::string key, size_t max) {
  return call<std::optional<store::Blob>>(
      [key, max](store::MemoryStore& store) { return answer_now(store.blob(key, max)); });
}

Answer<bool> FaultyStore::erase_blob(std::string key) {
  return call<bool>([key](store::MemoryStore& store) { return answer_now(store.erase_blob(key)); });
}

Answer<int64_t> FaultyStore::add(std::string counter, int64_t delta) {
  return call<int64_t>([counter, delta](store::MemoryStore& store) {
    return answer_now(store.add(counter, delta));
  });
}

Answer<void> FaultyStore::put_workers(store::Blob snapshot, std::vector<WorkerId> alive) {
  return call<void>([snapshot, alive](store::MemoryStore& store) {
    return answer_now(store.put_workers(snapshot, alive));
  });
}

Answer<store::BreakerAnswer> FaultyStore::breaker(std::string name, store::BreakerEvent event,
                                                  WallTime now) {
  return call<store::BreakerAnswer>([name, event, now](store::MemoryStore& store) {
    return answer_now(store.breaker(name, event, now));
  });
}

Answer<size_t> FaultyStore::retire(WallTime now, size_t limit) {
  return call<size_t>(
      [now, limit](store::MemoryStore& store) { return answer_now(store.retire(now, limit)); });
}

}  // namespace fairlead::sim
