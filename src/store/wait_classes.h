// The waiting jobs of an embedded store, class by class.
//
// A class is an ordered set: longest wait first. A job is claimed out of it for a while and comes
// back by itself if its claimer does nothing. Each class has one fallback time, at which the clock
// tries its first job; so a million waiting jobs of one class cost one timer.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "store/store.h"

namespace fairlead::store {

struct LiveJob;
struct WaitClass;

class WaitClasses {
 public:
  // Classes that were not known before `opened` count as dispatched at that time.
  explicit WaitClasses(WallTime opened) : opened_(opened) {}
  WaitClasses(const WaitClasses&) = delete;
  WaitClasses& operator=(const WaitClasses&) = delete;
  ~WaitClasses();

  // REQUIRES: job.since is set, and it waits in no class.
  void add(LiveJob* job, std::string_view wait_class, MonotonicTime first_try);
  // Of a job that has just begun to wait: it stands behind all others, whatever its clock says.
  void add_last(LiveJob* job, std::string_view wait_class, MonotonicTime first_try);
  // `dispatched`: when it leaves because it goes to a worker, so that its class moves.
  void remove(LiveJob* job, std::optional<WallTime> dispatched);

  // The longest waiting job of the given classes, or nullptr; claimed until `now` + kClaimTtl.
  LiveJob* claim_from(const std::vector<std::string>& classes, MonotonicTime now);
  // The first job of a class whose fallback time has come, or nullptr; claimed likewise.
  LiveJob* claim_due(MonotonicTime now);
  void unclaim(LiveJob* job, MonotonicTime next_try);
  Claim describe(const LiveJob* job) const;

  size_t waiting_in(std::string_view wait_class) const;
  std::vector<WaitClassView> list(std::string_view after, size_t limit) const;

 private:
  WaitClass* class_of(std::string_view name, MonotonicTime first_try);
  void claim(LiveJob* job, MonotonicTime now);
  void return_expired_claims(MonotonicTime now);
  void set_next_try(WaitClass* wait_class, MonotonicTime at);
  void drop_if_empty(WaitClass* wait_class);

  struct ByClaim {
    bool operator()(const LiveJob* a, const LiveJob* b) const;
  };
  struct ByNextTry {
    bool operator()(const WaitClass* a, const WaitClass* b) const;
  };

  WallTime opened_;
  std::map<std::string, WaitClass, std::less<>> classes_;
  std::set<WaitClass*, ByNextTry> by_next_try_;
  std::set<LiveJob*, ByClaim> claimed_;
};

}  // namespace fairlead::store
