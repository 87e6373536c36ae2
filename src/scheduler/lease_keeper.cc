#include "scheduler/lease_keeper.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/planted.h"

namespace fairlead::scheduler {

Task<Result<LeaseKeeper::Taken>> LeaseKeeper::take(const JobId& job, bool with_request,
                                                   Duration patience, std::string mark) {
  Taken taken{token_for(job), {}};
  MonotonicTime asked = replica_.clock.monotonic();
  Duration pause = limits::kLeasePollEvery;
  while (true) {
    MonotonicTime began = replica_.clock.monotonic();
    store::LoadOptions options{with_request, store::LeaseRequest{taken.token, limits::kJobLeaseTtl},
                               mark};
    Result<store::Loaded> loaded = co_await replica_.store.load(job, std::move(options));
    if (!loaded) {
      // The lease may have been taken all the same.
      doubt(job, std::move(taken.token), replica_.clock.monotonic() + limits::kJobLeaseTtl);
      co_return std::unexpected(loaded.error());
    }
    if (loaded->lease_taken) {
      replica_.metrics.observe(Histogram::kJobLockWait, replica_.clock.monotonic() - asked);
      fresh_.push_back({taken.token, job, began});
      by_token_.emplace(fresh_.back().token, std::prev(fresh_.end()));
      taken.loaded = *std::move(loaded);
      co_return taken;
    }
    if (replica_.clock.monotonic() - asked >= patience) {
      co_return fail(ErrorCode::kUnavailable, std::string(kBusy));
    }
    Result<void> waited = co_await replica_.loop.delay(pause);
    if (!waited) co_return std::unexpected(waited.error());
    pause = std::min(pause * 2, limits::kLeasePollEveryMax);
  }
}

std::string LeaseKeeper::token_for(const JobId& job) {
  auto doubtful = doubtful_.find(job);
  if (doubtful == doubtful_.end()) return replica_.name + "." + replica_.random.token();
  std::string token = std::move(doubtful->second.token);
  doubtful_.erase(doubtful);
  return token;
}

void LeaseKeeper::doubt(const JobId& job, std::string token, MonotonicTime until) {
  if (planted(PlantedBug::kDoubtfulLeaseForgotten)) return;
  doubtful_.emplace(job, Doubtful{std::move(token), until});
}

void LeaseKeeper::release(const JobId& job, const std::string& token) {
  Held* held = find(token);
  if (!held) return;
  MonotonicTime until = replica_.clock.monotonic() + limits::kJobLeaseTtl;
  forget(token);
  store::Answer<void> released = replica_.store.release(store::job_lease_key(job), token);
  replica_.nursery.spawn(follow_release(job, {token, until}, std::move(released)));
}

void LeaseKeeper::release_any(const JobId& job) {
  for (HeldList* list : {&fresh_, &renewing_}) {
    auto held = std::ranges::find(*list, job, &Held::job);
    if (held == list->end()) continue;
    const std::string token = held->token;
    return release(job, token);
  }
}

Task<void> LeaseKeeper::follow_release(JobId job, Doubtful lease, store::Answer<void> released) {
  Result<void> done = co_await std::move(released);
  if (!done) doubt(job, std::move(lease.token), lease.until);
}

void LeaseKeeper::release_doubtful() {
  MonotonicTime now = replica_.clock.monotonic();
  for (auto& [job, lease] : std::exchange(doubtful_, {})) {
    if (lease.until < now) continue;
    store::Answer<void> released = replica_.store.release(store::job_lease_key(job), lease.token);
    replica_.nursery.spawn(follow_release(job, std::move(lease), std::move(released)));
  }
}

bool LeaseKeeper::may_publish(const std::string& token) const {
  if (planted(PlantedBug::kLeaseWithoutFencing)) return true;
  auto held = by_token_.find(token);
  if (held == by_token_.end()) return false;
  MonotonicTime now = replica_.clock.monotonic();
  return now < held->second->confirmed + limits::kJobLeaseTtl - limits::kLeaseSafetyMargin &&
         now < alive_confirmed_ + limits::kAliveTtl - limits::kAliveSafetyMargin;
}

Task<void> LeaseKeeper::keep_renewing() {
  while (co_await replica_.loop.delay(limits::kLeaseReleaseRetry)) {
    release_doubtful();
    MonotonicTime now = replica_.clock.monotonic();
    while (!fresh_.empty() && now - fresh_.front().confirmed >= limits::kJobLeaseRenewEvery) {
      fresh_.front().renewing = true;
      renewing_.splice(renewing_.end(), fresh_, fresh_.begin());
      replica_.nursery.spawn(renew(renewing_.back().token));
    }
  }
}

Task<void> LeaseKeeper::renew(std::string token) {
  while (Held* held = find(token)) {
    MonotonicTime began = replica_.clock.monotonic();
    std::string key = store::job_lease_key(held->job);
    Result<bool> renewed =
        co_await replica_.store.renew(std::move(key), {token, limits::kJobLeaseTtl});
    held = find(token);
    if (!held) co_return;
    if (renewed && *renewed) {
      held->confirmed = began;
      held->failures = 0;
      held->renewing = false;
      fresh_.splice(fresh_.end(), renewing_, by_token_.at(token));
      co_return;
    }
    if (renewed) co_return abandon(token, "another holder has it");
    if (renewed.error().code == ErrorCode::kCancelled) co_return;
    if (++held->failures >= limits::kLeaseRenewalFailuresMax) {
      co_return abandon(token, renewed.error().message);
    }
    if (!co_await replica_.loop.delay(limits::kLeaseRenewRetry)) co_return;
  }
}

LeaseKeeper::Held* LeaseKeeper::find(std::string_view token) {
  auto held = by_token_.find(token);
  return held == by_token_.end() ? nullptr : &*held->second;
}

bool LeaseKeeper::forget(std::string_view token) {
  auto held = by_token_.find(token);
  if (held == by_token_.end()) return false;
  HeldList::iterator entry = held->second;
  by_token_.erase(held);
  (entry->renewing ? renewing_ : fresh_).erase(entry);
  return true;
}

void LeaseKeeper::abandon(const std::string& token, std::string_view why) {
  replica_.log.error("job lock abandoned", {{"job_id", find(token)->job.str()}, {"error", why}});
  replica_.metrics.add(Counter::kJobLockAbandoned);
  forget(token);
}

Task<void> LeaseKeeper::keep_alive() {
  while (co_await replica_.loop.delay(limits::kAliveRenewEvery)) (void)co_await appear();
}

Task<Result<void>> LeaseKeeper::appear() {
  MonotonicTime began = replica_.clock.monotonic();
  Result<WallTime> told = co_await replica_.store.sign_of_life(replica_.name);
  if (!told) co_return std::unexpected(told.error());
  alive_confirmed_ = began;
  replica_.clock.learn(*told, began);
  co_return Result<void>{};
}

}  // namespace fairlead::scheduler
