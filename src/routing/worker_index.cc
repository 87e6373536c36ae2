#include "routing/worker_index.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "base/check.h"
#include "base/limits.h"

namespace fairlead::routing {

static_assert(WorkerIndex::kLabelSeatsMax >= limits::kWorkersMax, "any single view fits");

struct WorkerIndex::LabelView {
  Pool* pool = nullptr;
  Labels placement;
  CandidateView workers;
  std::list<LabelView*>::iterator use;
};

struct WorkerIndex::Pool {
  // nullptr when no worker carries the label.
  const Carriers* carriers_of(const Labels::value_type& label) const {
    auto values = carriers.find(label.first);
    if (values == carriers.end()) return nullptr;
    auto found = values->second.find(label.second);
    return found == values->second.end() ? nullptr : &found->second;
  }

  CandidateView all;
  std::unordered_map<Labels, std::unique_ptr<LabelView>, LabelsHash> by_labels;
  // Of the labels that can constrain placement.
  std::map<std::string, std::map<std::string, Carriers>> carriers;
};

WorkerIndex::WorkerIndex(size_t label_views_max, size_t label_seats_max)
    : label_views_max_(label_views_max), label_seats_max_(label_seats_max) {}
WorkerIndex::~WorkerIndex() = default;

bool WorkerIndex::ByOrdinal::operator()(const Candidate* a, const Candidate* b) const {
  return a->rank.ordinal < b->rank.ordinal;
}

void WorkerIndex::insert(Candidate& worker) {
  check(worker.seats.empty(), "a worker is in the index once");
  ++version_;
  std::unique_ptr<Pool>& pool = pools_[worker.report->pool];
  if (!pool) pool = std::make_unique<Pool>();

  pool->all.add(worker);
  for (const auto& label : worker.report->labels) {
    if (is_placement_label(label.first)) pool->carriers[label.first][label.second].insert(&worker);
  }
  // In no order, which is fine: what one view finds does not depend on the others.
  for (auto& [placement, view] : pool->by_labels) {
    if (first_mismatch(worker.report->labels, placement) == nullptr) view->workers.add(worker);
  }
  label_seats_ += worker.seats.size() - 1;
  keep_bounds();
}

void WorkerIndex::erase(Candidate& worker) {
  auto found = pools_.find(worker.report->pool);
  check(found != pools_.end(), "the pool of a worker in the index is there");
  Pool& pool = *found->second;

  ++version_;
  label_seats_ -= worker.seats.size() - 1;
  while (!worker.seats.empty()) worker.seats.back().view->remove(worker);
  for (const auto& [name, value] : worker.report->labels) {
    if (!is_placement_label(name)) continue;
    auto values = pool.carriers.find(name);
    auto carriers = values->second.find(value);
    carriers->second.erase(&worker);
    if (carriers->second.empty()) values->second.erase(carriers);
    if (values->second.empty()) pool.carriers.erase(values);
  }
  if (pool.all.size() > 0) return;

  while (!pool.by_labels.empty()) drop_view(*pool.by_labels.begin()->second);
  pools_.erase(found);
}

void WorkerIndex::update(Candidate& worker) {
  for (const Candidate::Seat& seat : worker.seats) seat.view->update(worker, seat.member);
}

WorkerIndex::Found WorkerIndex::find(const std::vector<PoolName>& pools, const Labels& placement,
                                     std::span<const Candidate* const> excluded,
                                     FoundViews& found) {
  Found result;
  auto look_at = [&](CandidateView* view) {
    result.matching += view->size_but(excluded);
    Candidate* best = view->best_but(excluded);
    if (best && (!result.best || best->rank < result.best->rank)) result.best = best;
  };
  if (found.index == this && found.version == version_) {
    for (CandidateView* view : found.views) look_at(view);
    return result;
  }

  found = {this, version_, {}};
  for (const PoolName& name : pools) {
    auto pool = pools_.find(name);
    if (pool == pools_.end()) continue;
    CandidateView* view = view_of(*pool->second, placement);
    if (view == nullptr) continue;
    found.views.push_back(view);
    look_at(view);
  }
  // A view that was made just now may have cost one of those found before it.
  if (version_ != found.version) found.version = 0;
  return result;
}

CandidateView* WorkerIndex::view_of(Pool& pool, const Labels& placement) {
  if (placement.empty()) return &pool.all;
  auto found = pool.by_labels.find(placement);
  if (found == pool.by_labels.end()) return make_view(pool, placement);

  LabelView& view = *found->second;
  by_use_.splice(by_use_.begin(), by_use_, view.use);
  return &view.workers;
}

CandidateView* WorkerIndex::make_view(Pool& pool, const Labels& placement) {
  const Carriers* rarest = nullptr;
  for (const auto& label : placement) {
    const Carriers* carriers = pool.carriers_of(label);
    if (carriers == nullptr) return nullptr;
    if (rarest == nullptr || carriers->size() < rarest->size()) rarest = carriers;
  }

  ++version_;
  std::unique_ptr<LabelView>& view = pool.by_labels[placement];
  view = std::make_unique<LabelView>();
  view->pool = &pool;
  view->placement = placement;
  view->use = by_use_.insert(by_use_.begin(), view.get());
  for (Candidate* worker : *rarest) {
    if (first_mismatch(worker->report->labels, placement) == nullptr) view->workers.add(*worker);
  }
  label_seats_ += view->workers.size();
  keep_bounds();
  return &view->workers;
}

void WorkerIndex::drop_view(LabelView& view) {
  ++version_;
  label_seats_ -= view.workers.size();
  view.workers.remove_all();
  by_use_.erase(view.use);
  view.pool->by_labels.erase(Labels(view.placement));
}

void WorkerIndex::keep_bounds() {
  while (by_use_.size() > label_views_max_ || label_seats_ > label_seats_max_) {
    drop_view(*by_use_.back());
  }
}

}  // namespace fairlead::routing
