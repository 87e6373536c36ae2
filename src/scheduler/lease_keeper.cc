#include "scheduler/lease_keeper.h"

#include "base/limits.h"
#include "base/planted.h"

namespace fairlead::scheduler {

Task<Result<LeaseKeeper::Taken>> LeaseKeeper::take(const JobId& job, bool with_request,
                                                   Duration patience) {
  Taken taken{replica_.name + "." + replica_.random.token(), {}};
  MonotonicTime asked = replica_.clock.monotonic();
  while (true) {
    MonotonicTime began = replica_.clock.monotonic();
    store::LoadOptions options{with_request,
                               store::LeaseRequest{taken.token, limits::kJobLeaseTtl}};
    Result<store::Loaded> loaded = co_await replica_.store.load(job, std::move(options));
    if (!loaded) {
      // The lease may have been taken all the same.
      (void)replica_.store.release(store::job_lease_key(job), taken.token);
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
      co_return fail(ErrorCode::kUnavailable, "job lock busy");
    }
    Result<void> waited = co_await replica_.loop.delay(limits::kLeasePollEvery);
    if (!waited) co_return std::unexpected(waited.error());
  }
}

void LeaseKeeper::release(const JobId& job, const std::string& token) {
  if (!forget(token)) return;
  (void)replica_.store.release(store::job_lease_key(job), token);
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
  while (co_await replica_.loop.delay(limits::kAliveRenewEvery)) {
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
    if (!co_await replica_.loop.delay(limits::kRetryStore)) co_return;
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
  Result<void> shown = co_await replica_.store.sign_of_life(replica_.name);
  if (shown) alive_confirmed_ = began;
  co_return shown;
}

}  // namespace fairlead::scheduler
