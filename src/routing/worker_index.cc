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
  bool wants(const WorkerReport& worker) const {
    return is_ready_for(worker, topic) && first_mismatch(worker.labels, placement) == nullptr;
  }

  Pool* pool = nullptr;
  Labels placement;
  Topic topic;  // empty: it does not matter
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
  // Of these, those that take jobs of some topics only. Without any, views are made for no topic.
  size_t confined = 0;
  using ByLabels = std::unordered_map<Labels, std::unique_ptr<LabelView>, LabelsHash>;
  std::unordered_map<Topic, ByLabels> views;
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
  const bool confined = !worker.report->ready_topics.empty();
  pool->confined += confined;
  confined_ += confined;
  for (const auto& label : worker.report->labels) {
    if (is_placement_label(label.first)) pool->carriers[label.first][label.second].insert(&worker);
  }
  // In no order, which is fine: what one view finds does not depend on the others.
  for (auto& [topic, by_labels] : pool->views) {
    for (auto& [placement, view] : by_labels) {
      if (view->wants(*worker.report)) view->workers.add(worker);
    }
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
  const bool confined = !worker.report->ready_topics.empty();
  pool.confined -= confined;
  confined_ -= confined;
  for (const auto& [name, value] : worker.report->labels) {
    if (!is_placement_label(name)) continue;
    auto values = pool.carriers.find(name);
    auto carriers = values->second.find(value);
    carriers->second.erase(&worker);
    if (carriers->second.empty()) values->second.erase(carriers);
    if (values->second.empty()) pool.carriers.erase(values);
  }
  if (pool.all.size() > 0) return;

  while (!pool.views.empty()) drop_view(*pool.views.begin()->second.begin()->second);
  pools_.erase(found);
}

void WorkerIndex::update(Candidate& worker) {
  for (const Candidate::Seat& seat : worker.seats) seat.view->update(worker, seat.member);
}

WorkerIndex::Found WorkerIndex::find(const std::vector<PoolName>& pools, const Labels& placement,
                                     const Topic& topic, std::span<const Candidate* const> excluded,
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
    CandidateView* view = view_of(*pool->second, placement, topic);
    if (view == nullptr) continue;
    found.views.push_back(view);
    look_at(view);
  }
  // A view that was made just now may have cost one of those found before it.
  if (version_ != found.version) found.version = 0;
  return result;
}

CandidateView* WorkerIndex::view_of(Pool& pool, const Labels& placement, const Topic& asked) {
  static const Topic kAny;
  const Topic& topic = pool.confined > 0 ? asked : kAny;
  if (placement.empty() && topic.empty()) return &pool.all;
  auto by_labels = pool.views.find(topic);
  if (by_labels == pool.views.end()) return make_view(pool, placement, topic);
  auto found = by_labels->second.find(placement);
  if (found == by_labels->second.end()) return make_view(pool, placement, topic);

  LabelView& view = *found->second;
  by_use_.splice(by_use_.begin(), by_use_, view.use);
  return &view.workers;
}

CandidateView* WorkerIndex::make_view(Pool& pool, const Labels& placement, const Topic& topic) {
  const Carriers* rarest = nullptr;
  for (const auto& label : placement) {
    const Carriers* carriers = pool.carriers_of(label);
    if (carriers == nullptr) return nullptr;
    if (rarest == nullptr || carriers->size() < rarest->size()) rarest = carriers;
  }

  ++version_;
  std::unique_ptr<LabelView>& view = pool.views[topic][placement];
  view = std::make_unique<LabelView>();
  view->pool = &pool;
  view->placement = placement;
  view->topic = topic;
  view->use = by_use_.insert(by_use_.begin(), view.get());
  auto add = [&](Candidate* worker) {
    if (view->wants(*worker->report)) view->workers.add(*worker);
  };
  if (rarest) {
    std::ranges::for_each(*rarest, add);
  } else {
    std::ranges::for_each(pool.all.members(), add);
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
  auto& views = view.pool->views;
  auto by_labels = views.find(view.topic);
  by_labels->second.erase(Labels(view.placement));
  if (by_labels->second.empty()) views.erase(by_labels);
}

void WorkerIndex::keep_bounds() {
  while (by_use_.size() > label_views_max_ || label_seats_ > label_seats_max_) {
    drop_view(*by_use_.back());
  }
}

}  // namespace fairlead::routing
