// The one replica of all that does something, by a lease that it keeps for as long as it lives. A
// dead one's is taken over within seconds.
#pragma once

#include <string>

#include "runtime/task.h"
#include "scheduler/replica.h"

namespace fairlead::scheduler {

class Leader {
 public:
  // `key` is the lease's.
  Leader(Replica& replica, std::string key)
      : replica_(replica), key_(std::move(key)), token_(replica.name + ".leader") {}

  // Whether it is this replica. Asks the store now and then only. A replica that is alone always
  // leads.
  Task<bool> leads();
  // Leaves it to another, if it is this one: others try before it does again.
  Task<void> resign();

 private:
  Replica& replica_;
  const std::string key_;
  const std::string token_;
  bool leads_ = false;
  MonotonicTime confirmed_{};
  MonotonicTime next_try_{};
};

}  // namespace fairlead::scheduler
