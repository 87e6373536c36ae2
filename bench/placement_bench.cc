// Placements a second on one core. A placement is what the walk of a job does: the route from what
// the job says, pick, hold, and the release of a job that ended; at every 64th, a worker's
// heartbeat comes in. So loads change with every pick, and two jobs a worker are in flight all
// along.
#include <cstdint>
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "bench/benches.h"
#include "routing/placement.h"
#include "routing/pool_map.h"
#include "routing/registry.h"
#include "routing/remembered_routes.h"
#include "routing/route.h"

namespace fairlead::bench {

namespace {

using namespace routing;

// Of the processor, not of the wall: what else runs on the machine is not what is asked.
constexpr std::clock_t kCaseTime = CLOCKS_PER_SEC * 8 / 10;
constexpr int kJobsPerWorker = 2;
constexpr int kPlacementsPerHeartbeat = 64;

// What makes placement harder: half of the workers are then in another zone, in a pool that offers
// too little, or overloaded.
struct Difficulty {
  const char* name;
  bool labels = false;
  bool needs = false;
  bool overloaded = false;
};

constexpr Difficulty kDifficulties[] = {
    {.name = ""},
    {.name = ",labels", .labels = true},
    {.name = ",requires", .needs = true},
    {.name = ",overloaded", .overloaded = true},
    {.name = ",all", .labels = true, .needs = true, .overloaded = true},
};

constexpr const char* kPools = R"(
topics:
  job.plain: default
  job.needy: [cpu-a, cpu-b, gpu-a, gpu-b]
pools:
  default: {}
  cpu-a: {requires: [python]}
  cpu-b: {requires: [python, node]}
  gpu-a: {requires: [python, gpu, cuda]}
  gpu-b: {requires: [python, gpu, cuda, node]}
)";
constexpr const char* kNeedyPools[] = {"cpu-a", "gpu-a", "cpu-b", "gpu-b"};
constexpr const char* kZones[] = {"eu-west", "us-east"};

class World {
 public:
  World(int workers, const Difficulty& difficulty)
      : difficulty_(difficulty), map_(std::make_shared<const PoolMap>(*parse_pool_map(kPools))) {
    for (int i = 0; i < workers; ++i) {
      workers_.push_back(make_worker(i));
      registry_.heartbeat(workers_.back(), MonotonicTime{});
    }
    for (const char* zone : kZones) labels_.push_back(make_labels(zone));
    for (const Labels& labels : labels_) queries_.push_back(make_query(labels));
    for (int i = 0; i < workers * kJobsPerWorker; ++i) {
      jobs_.emplace_back(fmt::format("{:08x}-9a4b-4c57-8d55-3f6c2c1e0b7d", random_()));
    }
    for (const JobId& job : jobs_) place(job);
  }

  void step() {
    const JobId& job = jobs_[++steps_ % jobs_.size()];
    registry_.release(job);
    place(job);
    if (steps_ % kPlacementsPerHeartbeat == 0) hear(workers_[random_() % workers_.size()]);
  }

 private:
  WorkerReport make_worker(int i) {
    bool second_zone = i & 1;
    bool busy = difficulty_.overloaded && (i & 4);
    return {
        .id = WorkerId(fmt::format("worker-{:06}", i)),
        .pool = PoolName(difficulty_.needs ? kNeedyPools[i >> 1 & 3] : "default"),
        .max_parallel_jobs = 64,
        .cpu_load = busy ? 95.0 : random_() % 80,
        .labels = {
            {"node.zone", kZones[second_zone]}, {"constraint.os", "linux"}, {"team", "search"}}};
  }

  Labels make_labels(const char* zone) const {
    Labels labels = {{"workflow_id", "wf-1"}, {"node_id", "step-3"}};
    if (difficulty_.labels) labels.insert({{"node.zone", zone}, {"constraint.os", "linux"}});
    return labels;
  }

  RouteQuery make_query(const Labels& labels) const {
    RouteQuery query{.topic = Topic(difficulty_.needs ? "job.needy" : "job.plain"),
                     .labels = &labels};
    if (difficulty_.needs) query.requires_ = {"GPU", "cuda"};
    return query;
  }

  void place(const JobId& job) {
    const RouteQuery& query = queries_[steps_ % queries_.size()];
    auto route = routes_.resolve(map_, query);
    check(route.has_value(), "the topic is mapped");
    auto picked = pick(registry_, **route);
    check(picked.has_value(), "there is always a free worker");
    registry_.hold(job, picked->worker);
  }

  void hear(WorkerReport& worker) {
    worker.active_jobs = registry_.find(worker.id)->held;
    if (worker.cpu_load < 90) worker.cpu_load = random_() % 80;
    registry_.heartbeat(worker, MonotonicTime{});
  }

  Difficulty difficulty_;
  std::shared_ptr<const PoolMap> map_;
  RememberedRoutes routes_;
  WorkerRegistry registry_;
  std::vector<WorkerReport> workers_;
  std::vector<Labels> labels_;
  std::vector<RouteQuery> queries_;
  std::vector<JobId> jobs_;
  std::mt19937 random_{7};
  uint64_t steps_ = 0;
};

}  // namespace

void run_placement_bench(BenchReport& report) {
  for (int workers : {10, 1000, 10'000, 100'000}) {
    for (const Difficulty& difficulty : kDifficulties) {
      std::string name = fmt::format("workers={}{}", workers, difficulty.name);
      if (!report.wants(name)) continue;
      World world(workers, difficulty);
      uint64_t placements = 0;
      std::clock_t begin = std::clock();
      std::clock_t spent = 0;
      for (; spent < kCaseTime; spent = std::clock() - begin) {
        for (int i = 0; i < 1000; ++i) world.step();
        placements += 1000;
      }
      double seconds = static_cast<double>(spent) / CLOCKS_PER_SEC;
      report.add("placement", name, static_cast<double>(placements) / seconds, "picks/s",
                 {{"ns", seconds * 1e9 / static_cast<double>(placements)}});
    }
  }
}

}  // namespace fairlead::bench
