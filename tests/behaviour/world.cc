#include "tests/behaviour/world.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "job/request.h"

namespace fairlead::behaviour {

namespace {

cap::BusPacket packet_from(const std::string& sender, const std::string& trace) {
  cap::BusPacket packet;
  packet.set_trace_id(trace);
  packet.set_sender_id(sender);
  packet.set_protocol_version(1);
  return packet;
}

Result<std::shared_ptr<const routing::PoolMap>> parse_pools(const std::string& yaml) {
  auto map = routing::parse_pool_map(yaml);
  if (!map) return std::unexpected(map.error());
  return std::make_shared<const routing::PoolMap>(*std::move(map));
}

template <class Operation, class T>
Task<void> keep_answer(Operation operation, std::optional<T>& answer) {
  answer.emplace(co_await operation);
}

}  // namespace

World::World(Mode mode) : wiring_(make_wiring(mode, {loop, clock, random_, log})) {
  settings.alone = wiring_->alone();
  bus.on_crash([this](StoryBus::Crash when) {
    if (when == StoryBus::Crash::kNow) {
      loop.post_urgent([this] { crash(); });
    } else {
      loop.post([this] { crash(); });
    }
  });
}

World::~World() {
  crash();
}

template <class T>
T World::wait(Future<T> future) {
  std::optional<T> answer;
  tasks_.spawn(keep_answer(std::move(future), answer));
  settle();
  check(answer.has_value(), "what a story looks at answers without time passing");
  return *std::move(answer);
}

template <class T>
T World::wait(Task<T> task) {
  std::optional<T> answer;
  tasks_.spawn(keep_answer(std::move(task), answer));
  settle();
  check(answer.has_value(), "what a story waits for ends without time passing");
  return *std::move(answer);
}

// --- Settings ------------------------------------------------------------------------------------

void World::map_topic(const std::string& topic, const std::vector<std::string>& pools) {
  topics_[topic] = pools;
  for (const std::string& pool : pools) pools_.try_emplace(pool);
}

void World::describe_pool(const std::string& pool, const std::vector<std::string>& capabilities,
                          const std::string& status) {
  PoolText& text = pools_[pool];
  if (!capabilities.empty()) text.capabilities = capabilities;
  if (!status.empty()) text.status = status;
}

std::string World::pools_yaml() const {
  std::string yaml = "topics:\n";
  for (const auto& [topic, pools] : topics_) {
    yaml += fmt::format("  {}: [{}]\n", topic, join(pools, ", "));
  }
  yaml += "pools:\n";
  for (const auto& [pool, text] : pools_) {
    yaml += fmt::format("  {}:\n    requires: [{}]\n    status: {}\n", pool,
                        join(text.capabilities, ", "), text.status);
  }
  return yaml;
}

Result<void> World::reload_pools() {
  auto pools = parse_pools(pools_yaml());
  if (!pools) return std::unexpected(pools.error());
  scheduler_->set_pools(*std::move(pools));
  return {};
}

// --- The scheduler's process ---------------------------------------------------------------------

Result<void> World::start() {
  check(!up(), "a process is started once");
  ever_started_ = true;
  Result<void> started = start_process();
  if (!started) crash();
  return started;
}

Result<void> World::start_process() {
  auto pools = parse_pools(pools_yaml());
  if (!pools) return std::unexpected(pools.error());
  up_ = true;
  if (auto opened = wiring_->open_store(); !opened) return opened;
  store.attach(&wiring_->store(), wiring_->idle_sweeps(), &wiring_->clock());
  if (auto opened = wait(wiring_->open_bus(store)); !opened) return opened;
  bus.attach(&wiring_->bus());
  scheduler::Plugs plugs{loop, wiring_->clock(), random_, store, bus, gate, log};
  scheduler_ = std::make_unique<scheduler::Scheduler>(plugs, settings, *std::move(pools));
  if (auto started = wait(scheduler_->start()); !started) return started;
  for (auto& [id, worker] : workers_) {
    if (worker->gone) continue;
    if (auto connected = worker->connect(wiring_->outside()); !connected) return connected;
  }
  settle();
  return {};
}

void World::crash() {
  up_ = false;
  for (auto& [id, worker] : workers_) worker->disconnect();
  tasks_.drop();
  store.attach(nullptr);
  wiring_->drop_bus();
  scheduler_.reset();
  bus.attach(nullptr);
  wiring_->crash();
}

const scheduler::Metrics& World::metrics() const {
  return scheduler_->metrics();
}

// --- Time ----------------------------------------------------------------------------------------

void World::settle() {
  wiring_->settle();
}

void World::advance(Duration duration) {
  MonotonicTime until = loop.now() + duration;
  settle();
  for (auto next = loop.next_timer(); next && *next <= until; next = loop.next_timer()) {
    wiring_->set_time(*next);
    loop.run_until(*next);
    settle();
  }
  wiring_->set_time(until);
  loop.run_until(until);
}

// --- Clients and workers -------------------------------------------------------------------------

void World::submit(const cap::JobRequest& request, const std::string& trace) {
  cap::BusPacket packet = packet_from("client", trace);
  *packet.mutable_job_request() = request;
  submits_[request.job_id()] = job::serialise(packet);
  send_submit(request.job_id(), submits_[request.job_id()]);
}

bool World::submit_again(const std::string& job) {
  auto known = submits_.find(job);
  if (known == submits_.end()) return false;
  send_submit(job, known->second);
  return true;
}

void World::send_submit(std::string job, std::string packet) {
  submit_answers_[job] = SubmitAnswer::kNone;
  auto answer = wiring_->outside().publish(std::string(bus::kSubmitSubject), std::move(packet), {});
  tasks_.spawn(keep_submit_answer(std::move(answer), std::move(job)));
  settle();
}

Task<void> World::keep_submit_answer(Future<Result<bus::Published>> answer, std::string job) {
  Result<bus::Published> published = co_await answer;
  SubmitAnswer told = SubmitAnswer::kRefused;
  if (published && *published == bus::Published::kStored) told = SubmitAnswer::kStored;
  if (published && *published == bus::Published::kUnknown) told = SubmitAnswer::kUnknown;
  submit_answers_[job] = told;
}

SubmitAnswer World::submit_answer(const std::string& job) const {
  auto found = submit_answers_.find(job);
  return found == submit_answers_.end() ? SubmitAnswer::kNone : found->second;
}

void World::answer(const cap::JobResult& result) {
  cap::BusPacket packet = packet_from(result.worker_id(), "result-" + result.job_id());
  *packet.mutable_job_result() = result;
  answers_[result.job_id()] = job::serialise(packet);
  answer_again(result.job_id());
}

bool World::answer_again(const std::string& job) {
  auto known = answers_.find(job);
  if (known == answers_.end()) return false;
  publish(std::string(bus::kResultSubject), known->second);
  return true;
}

void World::publish(const std::string& subject, std::string payload) {
  (void)wiring_->outside().publish(subject, std::move(payload), {});
  settle();
}

StoryWorker& World::worker(const std::string& id) {
  auto& worker = workers_[id];
  if (!worker) worker = std::make_unique<StoryWorker>(loop, id);
  return *worker;
}

Result<void> World::connect(StoryWorker& worker) {
  worker.gone = false;
  if (worker.connected()) worker.disconnect();
  return worker.connect(wiring_->outside());
}

StoryWorker* World::find_worker(const std::string& id) {
  auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : found->second.get();
}

// --- What is there -------------------------------------------------------------------------------

Result<store::Snapshot> World::record(const std::string& job) {
  auto loaded = wait(wiring_->store().load(JobId(job), {}));
  if (!loaded) return std::unexpected(loaded.error());
  return std::move(loaded->record);
}

Result<std::optional<store::DeadLetter>> World::dead_letter(const std::string& job) {
  return wait(wiring_->store().dead_letter(JobId(job)));
}

}  // namespace fairlead::behaviour
