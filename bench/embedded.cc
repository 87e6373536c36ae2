#include "bench/embedded.h"

#include <fmt/core.h>

#include "job/request.h"
#include "routing/placement.h"
#include "scheduler/packets.h"
#include "tests/load/nats_worker.h"

namespace fairlead::bench {

namespace cap = cordum::agent::v1;

namespace {

constexpr const char* kPools = R"(
topics:
  job.default: default
  job.nobody: nobody
pools:
  default: {}
  nobody: {}
)";

}  // namespace

Embedded::Embedded(std::string folder) : folder_(std::move(folder)) {
  run_name_ = random_.token().substr(0, 8);
  if (folder_.empty()) {
    own_folder_ = true;
    folder_ = (std::filesystem::temp_directory_path() / ("fairlead-bench-" + run_name_)).string();
  }
  store::RocksOptions options;
  options.path = folder_;
  auto opened = store::RocksStore::open(options, loop_, clock_);
  if (!opened) check(false, opened.error().message.c_str());
  store_ = *std::move(opened);
  bus_ = std::make_unique<bus::LocalBus>(loop_, clock_, *store_);
  auto pools = routing::parse_pool_map(kPools);
  check(pools.has_value(), "the bench's pools can be read");
  scheduler::Settings settings;
  settings.alone = true;
  scheduler_ = std::make_unique<scheduler::Scheduler>(
      scheduler::Plugs{loop_, clock_, random_, *store_, *bus_, gate_, log_}, settings,
      std::make_shared<routing::PoolMap>(*std::move(pools)));
  bus_->on_terminated([this](bus::Delivery delivery, std::string reason) {
    return scheduler_->bury(std::move(delivery), std::move(reason));
  });
  run(start());
}

Embedded::~Embedded() {
  nursery_.drop();
  bus_->drop();
  subscriptions_.clear();
  scheduler_.reset();
  bus_.reset();
  store_.reset();
  if (own_folder_) std::filesystem::remove_all(folder_);
}

Task<void> Embedded::start() {
  Result<void> bus = co_await bus_->start();
  check(bus.has_value(), "the bus starts");
  Result<void> scheduler = co_await scheduler_->start();
  check(scheduler.has_value(), "the scheduler starts");
}

void Embedded::run(Task<void> task) {
  auto until_done = [](AsioLoop& loop, Task<void> inner) -> Task<void> {
    co_await std::move(inner);
    loop.stop();
  };
  loop_.post([&] { nursery_.spawn(until_done(loop_, std::move(task))); });
  loop_.run();
}

void Embedded::add_workers(int count, int capacity) {
  for (int i = 0; i < count; ++i) {
    WorkerId worker(fmt::format("worker-{}", i));
    auto subscription = bus_->subscribe(
        routing::direct_subject(worker), {},
        [this, worker](bus::Delivery delivery) { return work(worker, std::move(delivery)); });
    check(subscription.has_value(), "a worker can subscribe");
    subscriptions_.push_back(*std::move(subscription));
    beat(worker, capacity);
  }
}

void Embedded::beat(const WorkerId& worker, int capacity) {
  cap::BusPacket packet;
  packet.set_trace_id("beat");
  packet.set_sender_id(worker.str());
  packet.mutable_heartbeat()->set_worker_id(worker.str());
  packet.mutable_heartbeat()->set_pool("default");
  packet.mutable_heartbeat()->set_max_parallel_jobs(capacity);
  (void)bus_->publish("sys.heartbeat", job::serialise(packet), {});
  loop_.call_at(loop_.now() + std::chrono::seconds(5),
                [this, worker, capacity] { beat(worker, capacity); });
}

Task<bus::Verdict> Embedded::work(const WorkerId& worker, bus::Delivery delivery) {
  std::string job(job::peek_job_id(delivery.payload));
  check(!job.empty(), "a dispatch can be read");
  auto life = lives_.find(job);
  if (life != lives_.end()) {
    std::chrono::duration<double, std::micro> since =
        std::chrono::steady_clock::now() - life->second.submitted;
    dispatch_micros_.push_back(since.count());
  }
  nursery_.spawn(answer(
      job, load::success_packet(worker.str(), job, load::dispatch_identity(delivery.payload))));
  co_return bus::Verdict::ack();
}

Task<void> Embedded::answer(std::string job, std::string packet) {
  auto published = co_await bus_->publish(std::string(bus::kResultSubject), std::move(packet), {});
  check(published && *published == bus::Published::kStored, "a result is taken");
  auto life = lives_.extract(job);
  if (!life.empty() && life.mapped().ended) life.mapped().ended->complete({});
}

Task<void> Embedded::live_one_life() {
  std::string job = fmt::format("{}-4f2a-8c1d-{:020}", run_name_, ++submitted_);
  std::string packet = served_.fill(job);
  Life& life = lives_[job];
  life.submitted = std::chrono::steady_clock::now();
  life.ended.emplace();
  Future<Result<void>> ended = life.ended->future();
  auto published = co_await bus_->publish(std::string(bus::kSubmitSubject), std::move(packet), {});
  check(published && *published == bus::Published::kStored, "a submit is taken");
  (void)co_await std::move(ended);
}

Task<bool> Embedded::submit_unserved() {
  std::string job = fmt::format("{}-4f2a-8c1d-{:020}", run_name_, ++submitted_);
  auto published =
      co_await bus_->publish(std::string(bus::kSubmitSubject), unserved_.fill(job), {});
  co_return published && *published == bus::Published::kStored;
}

}  // namespace fairlead::bench
