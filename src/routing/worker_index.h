// The workers that could take a job, found without a look at those that could not.
//
//   pool "gpu" ─┬─ view of all                   every worker of the pool; always there
//               ├─ view {node.zone=eu}           made when first asked for, from the workers of
//               ├─ view {node.os=x, node.zone=eu}  the rarest label, and kept while it is used
//               ├─ view {} of topic job.x        where some workers take some topics only
//               └─ label → value → workers
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "routing/candidate_view.h"
#include "routing/found_views.h"
#include "routing/labels.h"

namespace fairlead::routing {

class WorkerIndex {
 public:
  struct Found {
    // The best of the open ones; nullptr when there is none.
    Candidate* best = nullptr;
    // All in the pools with the labels, open or not.
    size_t matching = 0;
  };

  // Bounds on the views with labels: a change of load visits each view of the worker, and a worker
  // that arrives is held against each view of its pool. Seats, in all of them, take some 64 bytes.
  static constexpr size_t kLabelViewsMax = 1024;
  static constexpr size_t kLabelSeatsMax = 2'000'000;

  explicit WorkerIndex(size_t label_views_max = kLabelViewsMax,
                       size_t label_seats_max = kLabelSeatsMax);
  ~WorkerIndex();
  WorkerIndex(const WorkerIndex&) = delete;
  WorkerIndex& operator=(const WorkerIndex&) = delete;

  // REQUIRES: not in; `report` is set, and its pool, labels and topics do not change while it is
  // in.
  void insert(Candidate& worker);
  void erase(Candidate& worker);
  // Call after the rank or the openness of a worker changed.
  void update(Candidate& worker);

  // REQUIRES: `pools` names none twice; `excluded` is sorted, names none twice, and all are in;
  // `found` is new, or from an earlier call with the same pools, labels and topic. An empty topic
  // is one that every worker takes.
  Found find(const std::vector<PoolName>& pools, const Labels& placement, const Topic& topic,
             std::span<const Candidate* const> excluded, FoundViews& found);

  // Workers that take jobs of some topics only.
  size_t confined() const { return confined_; }

  size_t label_views() const { return by_use_.size(); }
  size_t label_seats() const { return label_seats_; }

 private:
  struct Pool;
  struct LabelView;
  struct ByOrdinal {
    bool operator()(const Candidate* a, const Candidate* b) const;
  };
  using Carriers = std::set<Candidate*, ByOrdinal>;

  CandidateView* view_of(Pool& pool, const Labels& placement, const Topic& topic);
  CandidateView* make_view(Pool& pool, const Labels& placement, const Topic& topic);
  void drop_view(LabelView& view);
  void keep_bounds();

  size_t label_views_max_;
  size_t label_seats_max_;
  std::unordered_map<PoolName, std::unique_ptr<Pool>> pools_;
  // The one used last in front.
  std::list<LabelView*> by_use_;
  // In all the views with labels.
  size_t label_seats_ = 0;
  size_t confined_ = 0;
  // Grows when a worker, and with it a pool, or a view comes or goes.
  uint64_t version_ = 1;
};

}  // namespace fairlead::routing
