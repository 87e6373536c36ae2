// Holds the indexed registry against a plain one that keeps everything in lists, recounts at every
// question, and picks by the formula as it is written down.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "routing/explain.h"
#include "routing/placement.h"
#include "routing/test_workers.h"

namespace fairlead::routing {

namespace {

using job::ReasonCode;

struct PlainWorker {
  bool present = false;
  // It is remembered to the end of its TTL, though it may have left.
  bool expires = false;
  WorkerReport report;
  MonotonicTime last_seen;
  // Every report in the current row; how many came before it.
  std::vector<int32_t> row;
  size_t beats_before = 0;
  bool ever_active = false;
  // A job could not be handed to it since it was heard.
  bool refused = false;
  int32_t ghosts = 0;
  int32_t ended = 0;
  // Job to the heartbeats that had come when it was held.
  std::map<JobId, size_t> jobs;

  size_t beats() const { return beats_before + row.size(); }
  int32_t count_jobs(auto&& predicate) const {
    return static_cast<int32_t>(
        std::ranges::count_if(jobs, [&](const auto& job) { return predicate(job.second); }));
  }
  int32_t held() const { return static_cast<int32_t>(jobs.size()); }
  int32_t held_long() const {
    return count_jobs([&](size_t since) { return since + limits::kGhostHeartbeats <= beats(); });
  }
  int32_t unconfirmed() const {
    return count_jobs([&](size_t since) { return since == beats(); });
  }
  int32_t load() const {
    int32_t active = present ? report.active_jobs : 0;
    return std::max(held() - ghosts, std::max(0, active - ended) + unconfirmed());
  }

  void heard() {
    row.push_back(report.active_jobs);
    ended = 0;
    refused = false;
    ever_active |= report.active_jobs > 0;
    int32_t missing = 0;
    if (row.size() >= limits::kGhostHeartbeats) {
      missing = held_long() - *std::max_element(row.end() - limits::kGhostHeartbeats, row.end());
    }
    int32_t still = std::min({ghosts, held_long(), held() - report.active_jobs});
    ghosts = ever_active ? std::max({0, missing, still}) : 0;
  }

  void release(const JobId& job) {
    if (jobs.at(job) < beats()) ++ended;
    jobs.erase(job);
    ghosts = std::min(ghosts, held_long());
  }

  void expire() {
    present = false;
    beats_before += row.size();
    row.clear();
    ghosts = 0;
    ended = 0;
    refused = false;
  }

  bool can_take() const { return present && !refused && !is_overloaded(); }

  // As it is written down.
  bool is_overloaded() const {
    if (int32_t capacity = report.max_parallel_jobs; capacity > 0) {
      double utilization = static_cast<double>(load()) / static_cast<double>(capacity);
      if (utilization >= 0.9) return true;
    }
    if (report.cpu_load >= 90) return true;
    if (report.gpu_utilization >= 90) return true;
    return false;
  }

  double plain_score() const {
    return load() + report.cpu_load / 100 + report.gpu_utilization / 100;
  }

  int64_t free_capacity() const {
    return report.max_parallel_jobs == 0 ? INT32_MAX
                                         : std::max(0, report.max_parallel_jobs - load());
  }
};

class PlainRegistry {
 public:
  static constexpr Duration kTtl = std::chrono::seconds(30);

  HeartbeatEffect heartbeat(WorkerReport report, MonotonicTime now) {
    PlainWorker& worker = workers_[report.id];
    report.ready_topics = worker.present ? worker.report.ready_topics : introduced_[report.id];
    introduced_.erase(report.id);
    bool could = worker.can_take() && now - worker.last_seen <= kTtl &&
                 worker.report.pool == report.pool && worker.report.labels == report.labels;
    worker.present = true;
    worker.expires = true;
    worker.report = report;
    worker.last_seen = now;
    worker.heard();
    return worker.can_take() && !could ? HeartbeatEffect::kOpened : HeartbeatEffect::kRefreshed;
  }

  void hold(const JobId& job, const WorkerId& id) {
    if (workers_[id].jobs.contains(job)) return;
    release(job);
    PlainWorker& worker = workers_[id];
    worker.jobs[job] = worker.beats();
  }

  void release(const JobId& job) {
    for (auto& [id, worker] : workers_) {
      if (worker.jobs.contains(job)) worker.release(job);
    }
    forget_unused();
  }

  void end(const JobId& job, const WorkerId& id) {
    bool ours = std::ranges::any_of(
        workers_, [&](const auto& entry) { return entry.second.jobs.contains(job); });
    if (ours) return release(job);
    auto known = workers_.find(id);
    if (known != workers_.end() && known->second.present) ++known->second.ended;
  }

  void refuse(const WorkerId& id) {
    auto known = workers_.find(id);
    if (known != workers_.end() && known->second.present) known->second.refused = true;
  }

  void introduce(const WorkerId& id, const std::vector<std::string>& topics) {
    auto known = workers_.find(id);
    bool heard = known != workers_.end() && known->second.present;
    (heard ? known->second.report.ready_topics : introduced_[id]) = topics;
  }

  void leave(const WorkerId& id) {
    auto known = workers_.find(id);
    if (known != workers_.end() && known->second.present) known->second.expire();
  }

  std::vector<WorkerId> sweep(MonotonicTime now) {
    std::vector<WorkerId> expired;
    for (auto& [id, worker] : workers_) {
      if (!worker.expires || now - worker.last_seen <= kTtl) continue;
      worker.expires = false;
      if (!worker.present) continue;
      worker.expire();
      expired.push_back(id);
    }
    forget_unused();
    return expired;
  }

  // The worker's id, or the reason code.
  std::string pick(const Route& route, const std::vector<WorkerId>& excluded) const {
    std::set<PoolName> pool_set(route.pools.begin(), route.pools.end());
    auto eligible = [&](const PlainWorker& worker) {
      return worker.present && pool_set.contains(worker.report.pool) &&
             matches(worker.report.labels, route.placement) &&
             takes(worker.report.ready_topics, route.topic) &&
             std::ranges::find(excluded, worker.report.id) == excluded.end();
    };
    if (auto it = workers_.find(WorkerId(route.preferred_worker)); it != workers_.end()) {
      if (eligible(it->second) && it->second.can_take()) return route.preferred_worker;
    }

    std::vector<const PlainWorker*> all;
    for (const auto& [id, worker] : workers_) {
      if (eligible(worker)) all.push_back(&worker);
    }
    if (all.empty()) return "no_workers";
    const PlainWorker* best = nullptr;
    for (const PlainWorker* worker : all) {
      if (!worker->can_take()) continue;
      if (best == nullptr || before(*worker, *best)) best = worker;
    }
    if (best) return best->report.id.str();
    if (!std::ranges::all_of(all, &PlainWorker::refused)) return "pool_overloaded";
    // The last resort.
    auto first = std::ranges::find_if(all, [](auto* worker) { return !worker->is_overloaded(); });
    return first == all.end() ? "pool_overloaded" : (*first)->report.id.str();
  }

  const std::map<WorkerId, PlainWorker>& workers() const { return workers_; }

 private:
  void forget_unused() {
    std::erase_if(workers_, [](const auto& entry) {
      return !entry.second.present && !entry.second.expires && entry.second.jobs.empty();
    });
  }

  static bool takes(const std::vector<std::string>& topics, const Topic& topic) {
    return topics.empty() || std::ranges::find(topics, topic.str()) != topics.end();
  }

  static bool matches(const Labels& labels, const Labels& required) {
    return std::ranges::all_of(required, [&](const auto& label) {
      return labels.contains(label.first) && labels.at(label.first) == label.second;
    });
  }

  // Workers come by id, so the last tie needs no comparison.
  static bool before(const PlainWorker& a, const PlainWorker& b) {
    if (a.plain_score() != b.plain_score()) return a.plain_score() < b.plain_score();
    int32_t a_in_flight = a.held() - a.ghosts;
    int32_t b_in_flight = b.held() - b.ghosts;
    if (a_in_flight != b_in_flight) return a_in_flight < b_in_flight;
    return a.free_capacity() > b.free_capacity();
  }

  std::map<WorkerId, PlainWorker> workers_;
  std::map<WorkerId, std::vector<std::string>> introduced_;
};

// Takes both registries through the same random life.
class Life {
 public:
  explicit Life(uint32_t seed) : random_(seed) {}

  void step() {
    now_ += std::chrono::milliseconds(draw(200));
    switch (draw(13)) {
      case 0:
      case 1:
      case 2:
        hear();
        break;
      case 3:
      case 4:
      case 5:
        place();
        break;
      case 6:
        hold_anywhere();
        break;
      case 7:
        release();
        break;
      case 8:
        end();
        break;
      case 9:
        sweep();
        break;
      case 10:
        introduce();
        break;
      case 11:
        leave();
        break;
      case 12:
        refuse();
        break;
    }
    if (draw(20) == 0) compare_workers();
    if (draw(20) == 0) compare_explanation();
  }

  int last_resorts() const { return last_resorts_; }

 private:
  uint32_t draw(uint32_t below) { return random_() % below; }
  WorkerId some_worker() { return WorkerId(fmt::format("w{}", draw(25))); }
  JobId some_job() { return JobId(fmt::format("j{}", draw(60))); }

  Topic some_topic() { return Topic(fmt::format("t{}", draw(3))); }

  Labels some_labels(uint32_t values) {
    Labels labels;
    for (const char* name : {"node.zone", "placement.tier", "constraint.os"}) {
      if (draw(3) == 0) labels[name] = std::to_string(draw(values));
    }
    return labels;
  }

  void hear() {
    WorkerId id = some_worker();
    auto known = plain_.workers().find(id);
    WorkerReport report{.id = id};
    if (known != plain_.workers().end() && known->second.present && draw(6) != 0) {
      report = known->second.report;
    } else {
      report.pool = PoolName(std::string(1, static_cast<char>('a' + draw(3))));
      report.labels = some_labels(2);
      report.labels["team"] = std::to_string(draw(2));
      report.max_parallel_jobs = static_cast<int32_t>(draw(8));
    }
    report.active_jobs = static_cast<int32_t>(draw(5));
    report.cpu_load = draw(10) == 0 ? 95 : draw(4) * 25;
    report.gpu_utilization = draw(10) == 0 ? 90 : draw(3) * 10.5;
    ASSERT_EQ(registry_.heartbeat(report, now_).effect, plain_.heartbeat(report, now_));
  }

  Route some_route() {
    Route route;
    for (const char* pool : {"c", "a", "b", "none"}) {
      if (draw(2)) route.pools.emplace_back(pool);
    }
    route.placement = some_labels(3);
    route.topic = some_topic();
    if (draw(4) == 0) route.preferred_worker = some_worker().str();
    return route;
  }

  void place() {
    Route route = some_route();
    std::vector<WorkerId> excluded;
    while (draw(3) == 0) excluded.push_back(some_worker());

    auto picked = pick(registry_, route, excluded);
    std::string answer = picked ? picked->worker.str() : to_string(picked.error().code);
    ASSERT_EQ(answer, plain_.pick(route, excluded));
    if (!picked) return;
    if (plain_.workers().at(picked->worker).refused) ++last_resorts_;
    JobId job = some_job();
    registry_.hold(job, picked->worker);
    plain_.hold(job, picked->worker);
  }

  void hold_anywhere() {
    JobId job = some_job();
    WorkerId worker = some_worker();
    registry_.hold(job, worker);
    plain_.hold(job, worker);
  }

  void release() {
    JobId job = some_job();
    registry_.release(job);
    plain_.release(job);
  }

  void end() {
    JobId job = some_job();
    WorkerId worker = some_worker();
    registry_.ended(job, worker);
    plain_.end(job, worker);
  }

  void refuse() {
    WorkerId worker = some_worker();
    registry_.refused(worker);
    plain_.refuse(worker);
  }

  void sweep() {
    if (draw(10) == 0) now_ += std::chrono::seconds(draw(40));
    ASSERT_EQ(registry_.sweep(now_), plain_.sweep(now_));
  }

  // Seldom, so that there are times in which no worker is confined to some topics.
  void introduce() {
    WorkerId worker = some_worker();
    std::vector<std::string> topics;
    if (draw(8) == 0) topics.push_back(some_topic().str());
    registry_.introduce(worker, topics);
    plain_.introduce(worker, topics);
  }

  void leave() {
    if (draw(4) != 0) return;
    WorkerId worker = some_worker();
    registry_.left(worker);
    plain_.leave(worker);
  }

  void compare_workers() {
    size_t present = 0;
    for (const auto& [id, plain] : plain_.workers()) {
      std::vector<JobId> jobs;
      for (const auto& entry : plain.jobs) jobs.push_back(entry.first);
      ASSERT_EQ(registry_.held_jobs(id), jobs);
      const WorkerView* view = registry_.find(id);
      ASSERT_EQ(view != nullptr, plain.present) << id.str();
      if (!plain.present) continue;
      ++present;
      ASSERT_EQ(view->held, plain.held());
      ASSERT_EQ(view->ghosts, plain.ghosts);
      ASSERT_EQ(view->load, plain.load());
      ASSERT_EQ(view->overloaded, !plain.can_take());
      ASSERT_EQ(view->refused, plain.refused);
      ASSERT_EQ(view->score, plain.plain_score());
      ASSERT_EQ(view->free_slots, plain.free_capacity());
      ASSERT_EQ(registry_.alive(id, now_), now_ - plain.last_seen <= PlainRegistry::kTtl);
    }
    ASSERT_EQ(registry_.size(), present);
    ASSERT_EQ(registry_.workers().size(), present);
  }

  // Explained for a job that cannot meet a stale worker, a pick and its explanation agree.
  void compare_explanation() {
    registry_.sweep(now_);
    plain_.sweep(now_);
    static const PoolMap kMap = pool_map("topics: {t0: [b, a]}\npools: {a: {}, b: {}}");
    Labels labels = some_labels(3);
    if (draw(3) == 0) labels["preferred_worker_id"] = some_worker().str();
    RouteQuery query{.topic = Topic("t0"), .labels = &labels};

    Explanation explanation = explain(kMap, registry_, query, now_);
    std::vector<HintOutcome> hints;
    auto picked = pick(registry_, *resolve(kMap, query), {}, &hints);
    ASSERT_EQ(explanation.hints, hints);
    ASSERT_EQ(explanation.chosen.has_value(), picked.has_value());
    ASSERT_EQ(explanation.code, picked ? ReasonCode::kNone : picked.error().code);
    size_t chosen = 0;
    for (const ExplainedWorker& worker : explanation.workers) {
      if (worker.verdict != WorkerVerdict::kChosen) continue;
      ++chosen;
      ASSERT_EQ(worker.worker, picked->worker);
    }
    ASSERT_EQ(chosen, picked ? 1u : 0u);
  }

  std::mt19937 random_;
  MonotonicTime now_ = at(1000);
  WorkerRegistry registry_{PlainRegistry::kTtl};
  PlainRegistry plain_;
  int last_resorts_ = 0;
};

}  // namespace

class PlacementIndex : public testing::TestWithParam<uint32_t> {};

TEST_P(PlacementIndex, AgreesWithAPlainScanThroughARandomLife) {
  Life life(GetParam());
  for (int step = 0; step < 10'000; ++step) {
    life.step();
    if (HasFatalFailure()) FAIL() << "at step " << step;
  }
  EXPECT_GT(life.last_resorts(), 0) << "nothing was handed to a worker that had refused";
}

INSTANTIATE_TEST_SUITE_P(Seeds, PlacementIndex, testing::Range(1u, 13u));

}  // namespace fairlead::routing
