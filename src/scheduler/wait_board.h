// The waiting classes as this replica knows them: which of them a worker fits, so that a freed slot
// or a new worker can be offered to those who wait for it.
//
// The store has the waiting jobs; the board only names classes, and may name one that is empty.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "routing/wait_class.h"
#include "routing/worker.h"
#include "store/store.h"

namespace fairlead::scheduler {

// The class of jobs that wait for their tenant's limit: "tenant=<id>".
std::string tenant_class(const TenantId& tenant);
bool is_tenant_class(std::string_view wait_class);
// The class of jobs that wait until policy can be asked.
inline constexpr std::string_view kPolicyClass = "policy";

class WaitBoard {
 public:
  // True when it was not known. `since`: the first of it waits that long.
  bool add(const std::string& wait_class, WallTime since);
  // Replaces what is known of the classes behind `after` by a page that the store lists of them, in
  // their order; of the last page, to the end. Looks at no others. Names the classes that were not
  // known: room may have come for them here before they were.
  // REQUIRES: a page that is not the last is not empty.
  std::vector<std::string> refresh(const std::string& after,
                                   const std::vector<store::WaitClassView>& page, bool last);

  bool empty() const { return placement_.empty() && tenants_.empty(); }

  // Classes of jobs that the worker can take, at most kClaimClassesMax, longest wait first. Of very
  // many it may miss some: the clock tries them.
  std::vector<std::string> fitting(const routing::WorkerReport& worker) const;

  // What to claim from when a job of this tenant leaves this worker: one group for the slot of
  // each. `worker` may be nullptr.
  std::vector<std::vector<std::string>> groups(const routing::WorkerReport* worker,
                                               const TenantId& tenant) const;

 private:
  // Classes of one pool that ask for the same label, or for none, longest wait first. A class
  // stands in one for each of its pools, under the label that fewest others stand under: a worker
  // meets those of its own labels, and not all who wait for other workers of its pool.
  using Shelf = std::set<std::pair<WallTime, std::string>>;
  struct Known {
    routing::WaitClass wait_class;
    WallTime oldest;
    std::vector<std::string> shelves;
  };
  using Classes = std::map<std::string, Known>;

  void shelve(const std::string& text, Known& known);
  void unshelve(const std::string& text, const Known& known);
  void set_oldest(const std::string& text, Known& known, WallTime oldest);
  void visit(const std::string& shelf, const routing::WorkerReport& worker, Shelf& fit) const;

  Classes placement_;
  std::map<std::string, Shelf> shelves_;
  std::set<std::string> tenants_;
};

}  // namespace fairlead::scheduler
