// What a sweep would find on Redis if it asked: mostly nothing.
//
// A replica looks for what is due four times a second, with five questions. Stories take nine hours
// in all, in which nearly always nothing is: to ask each time would be nearly all that they do. So
// Redis is asked once when the next job is due, and until then, or until the scheduler has written
// something, sweeps are told what they would find. Whatever is due they read for themselves.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/nursery.h"
#include "store/store.h"
#include "tests/behaviour/cluster_servers.h"

namespace fairlead::behaviour {

class IdleSweeps {
 public:
  using Classes = std::vector<store::WaitClassView>;

  explicit IdleSweeps(ClusterServers& servers) : servers_(servers) {}

  // Something is on its way to the store that may change what is due.
  void changed() { knowledge_ = Knowledge::kMoving; }
  // All that was on its way is there.
  void settled();

  // REQUIRES of both: `now` is the store's time.
  bool finds_nothing(const store::Query& query, WallTime now);
  bool claims_nothing(WallTime now);
  // The answer to the last question for all waiting classes, if it still is.
  const Classes* waiting();
  void keep_waiting(Classes classes);

 private:
  enum class Knowledge { kMoving, kOld, kNew };
  // The earliest of each index, in microseconds; more than any time: there is none.
  struct Next {
    double due;
    double deadline;
    double unpublished;
    double claim;
  };

  bool know();

  ClusterServers& servers_;
  Knowledge knowledge_ = Knowledge::kMoving;
  Next next_{};
  std::optional<Classes> waiting_;
};

}  // namespace fairlead::behaviour
