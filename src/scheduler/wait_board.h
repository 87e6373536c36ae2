// The waiting classes as this replica knows them: which of them a worker fits, so that a freed slot
// or a new worker can be offered to those who wait for it.
//
// The store has the waiting jobs; the board only names classes, and may name one that is empty.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "routing/wait_class.h"
#include "routing/worker.h"
#include "store/store.h"

namespace fairlead::scheduler {

// The class of jobs that wait for their tenant's limit: "tenant=<id>".
std::string tenant_class(const TenantId& tenant);

class WaitBoard {
 public:
  // True when it was not known. `since`: the first of it waits that long.
  bool add(const std::string& wait_class, WallTime since);
  // Replaces what is known of the classes behind `after` by a page that the store lists of them; of
  // the last page, to the end. Names the classes that were not known: room may have come for them
  // here before they were.
  std::vector<std::string> refresh(const std::string& after,
                                   const std::vector<store::WaitClassView>& page, bool last);

  bool empty() const { return placement_.empty() && tenants_.empty(); }

  // Classes of jobs that the worker can take, at most kClaimClassesMax, longest wait first.
  std::vector<std::string> fitting(const routing::WorkerReport& worker) const;

  // What to claim from when a job of this tenant leaves this worker: one group for the slot of
  // each. `worker` may be nullptr.
  std::vector<std::vector<std::string>> groups(const routing::WorkerReport* worker,
                                               const TenantId& tenant) const;

 private:
  struct Known {
    routing::WaitClass wait_class;
    WallTime oldest;
  };

  std::map<std::string, Known> placement_;
  std::set<std::string> tenants_;
};

}  // namespace fairlead::scheduler
