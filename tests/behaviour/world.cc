#include "tests/behaviour/world.h"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "bus/local/local_bus.h"
#include "job/request.h"
#include "runtime/random.h"
#include "scheduler/scheduler.h"
#include "store/memory/memory_store.h"
#include "store/rocksdb/rocks_store.h"

namespace fairlead::behaviour {

namespace {

cap::BusPacket packet_from(const std::string& sender, const std::string& trace) {
  cap::BusPacket packet;
  packet.set_trace_id(trace);
  packet.set_sender_id(sender);
  packet.set_protocol_version(1);
  return packet;
}

std::string make_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "fairlead-story-XXXXXX").string();
  check(mkdtemp(name.data()) != nullptr, "there is room for a temporary folder");
  return name;
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

struct World::Disk {
  explicit Disk(StoreKind given) : kind(given) {
    if (kind == StoreKind::kRocksDb) folder = make_folder();
  }
  ~Disk() {
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
  }

  const StoreKind kind;
  std::string folder;
  std::unique_ptr<store::MemoryStore> memory;
  SeededRandom random{1};  // not of the process, so that each has a name of its own
};

struct World::Process {
  ~Process() {
    scheduler.reset();
    if (bus) bus->drop();
  }
  store::Store& store(Disk& disk) {
    return rocks ? static_cast<store::Store&>(*rocks) : *disk.memory;
  }

  std::unique_ptr<store::RocksStore> rocks;
  std::unique_ptr<bus::LocalBus> bus;
  std::unique_ptr<scheduler::Scheduler> scheduler;
};

World::World(StoreKind kind) : disk_(std::make_unique<Disk>(kind)) {
  settings.alone = true;
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
  process_->scheduler->set_pools(*std::move(pools));
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
  process_ = std::make_unique<Process>();
  if (disk_->kind == StoreKind::kRocksDb) {
    store::RocksOptions options;
    options.path = disk_->folder;
    options.fsync = false;  // stories do not pull the plug
    auto opened = store::RocksStore::open(std::move(options), loop, clock);
    if (!opened) return std::unexpected(opened.error());
    process_->rocks = *std::move(opened);
  } else if (!disk_->memory) {
    disk_->memory = std::make_unique<store::MemoryStore>(clock);
  }
  store.attach(&process_->store(*disk_));
  process_->bus = std::make_unique<bus::LocalBus>(loop, clock, store);
  bus.attach(process_->bus.get());
  if (auto started = wait(process_->bus->start()); !started) return started;
  scheduler::Plugs plugs{loop, clock, disk_->random, store, bus, gate, log};
  process_->scheduler = std::make_unique<scheduler::Scheduler>(plugs, settings, *std::move(pools));
  if (auto started = wait(process_->scheduler->start()); !started) return started;
  for (auto& [id, worker] : workers_) {
    if (worker->gone) continue;
    if (auto connected = worker->connect(*process_->bus); !connected) return connected;
  }
  settle();
  return {};
}

void World::crash() {
  for (auto& [id, worker] : workers_) worker->disconnect();
  tasks_.drop();
  store.attach(nullptr);
  process_.reset();
  bus.attach(nullptr);
}

const scheduler::Metrics& World::metrics() const {
  return process_->scheduler->metrics();
}

// --- Time ----------------------------------------------------------------------------------------

void World::settle() {
  loop.run_ready();
  while (process_ && process_->rocks && process_->rocks->outstanding() > 0) {
    loop.wait_posted();
    loop.run_ready();
  }
}

void World::advance(Duration duration) {
  MonotonicTime until = loop.now() + duration;
  settle();
  for (auto next = loop.next_timer(); next && *next <= until; next = loop.next_timer()) {
    loop.run_until(*next);
    settle();
  }
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
  auto answer = process_->bus->publish(std::string(bus::kSubmitSubject), std::move(packet), {});
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
  (void)process_->bus->publish(subject, std::move(payload), {});
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
  return worker.connect(*process_->bus);
}

StoryWorker* World::find_worker(const std::string& id) {
  auto found = workers_.find(id);
  return found == workers_.end() ? nullptr : found->second.get();
}

// --- What is there -------------------------------------------------------------------------------

Result<store::Snapshot> World::record(const std::string& job) {
  auto loaded = wait(process_->store(*disk_).load(JobId(job), {}));
  if (!loaded) return std::unexpected(loaded.error());
  return std::move(loaded->record);
}

Result<std::optional<store::DeadLetter>> World::dead_letter(const std::string& job) {
  return wait(process_->store(*disk_).dead_letter(JobId(job)));
}

}  // namespace fairlead::behaviour
