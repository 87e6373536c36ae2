#include "app/cluster_server.h"

#include <cstdio>

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "app/build_info.h"
#include "app/drain.h"
#include "base/rfc3339.h"
#include "gate/topic_gate.h"
#include "scheduler/go_duration.h"
#include "scheduler/packets.h"

namespace fairlead::app {

namespace {

// What nobody is known to have lost is looked for this often: Go replicas die unnoticed.
constexpr Duration kLookAgainEvery = std::chrono::seconds(60);
constexpr Duration kRegisterEvery = std::chrono::milliseconds(7500);
constexpr Duration kRegisteredFor = std::chrono::seconds(15);
constexpr Duration kGreetLookEvery = std::chrono::seconds(1);

}  // namespace

ClusterServer::ClusterServer(ServeConfig config, Log& log)
    : config_(std::move(config)), log_(log), front_(config_.common, loop_, log_) {}

ClusterServer::~ClusterServer() {
  take_apart();
}

Result<void> ClusterServer::run() {
  if (auto opened = open(); !opened) return opened;
  loop_.post([this] { tasks_.spawn(live()); });
  loop_.run();
  take_apart();
  return outcome_;
}

Result<void> ClusterServer::open() {
  const Config& common = config_.common;
  for (const std::string& warning : common.warnings) log_.warning(warning, {});
  if (auto read = front_.read_files(config_.gateway); !read) return read;
  auto opened = store::redis::RedisStore::open(config_.redis, loop_, clock_, log_);
  if (!opened) return std::unexpected(opened.error());
  store_ = *std::move(opened);
  bus_ = std::make_unique<bus::nats::NatsBus>(
      bus::nats::NatsBus::Plugs{loop_, store_->clock(), random_, log_}, config_.nats);
  if (config_.kernel) {
    auto kernel =
        std::make_unique<gate::KernelGate>(loop_, store_->clock(), *store_, log_, *config_.kernel);
    kernel_ = kernel.get();
    gate_ = std::move(kernel);
  } else {
    gate_ = std::make_unique<gate::TopicGate>();
  }
  effective_config_ = std::make_unique<scheduler::StoredConfig>(*store_, store_->clock());
  scheduler_ = std::make_unique<scheduler::Scheduler>(
      scheduler::Plugs{loop_, store_->clock(), random_, *store_, *bus_, *gate_, log_,
                       effective_config_.get()},
      common.scheduler, front_.pools());
  bus_->on_terminated([this](bus::Delivery delivery, std::string reason) {
    return scheduler_->bury(std::move(delivery), std::move(reason));
  });
  book_ = std::make_unique<http::PoolBook>(
      loop_, *store_, front_.pools(), [this](auto map) { scheduler_->set_pools(std::move(map)); });
  watch_servers();
  backend_ = std::make_unique<http::Backend>(http::Backend{loop_, store_->clock(), random_, *store_,
                                                           *bus_, log_, *scheduler_, *book_,
                                                           build_info(), clock_.monotonic()});
  backend_->hands_over_jobs = true;
  backend_->context_ttl = config_.context_ttl;
  backend_->servers = [this] {
    http::Servers servers{false, bus_->connected(), store_->connected()};
    servers.nats_problem = bus_->problem();
    servers.redis_problem = store_->write_problem();
    if (kernel_) servers.safety_problem = kernel_->problem();
    return servers;
  };
  return {};
}

void ClusterServer::watch_servers() {
  scheduler::OverlayFiles files{config_.common.pools_file.empty() ? nullptr : front_.pools(),
                                config_.timeouts_file};
  config_watch_ = std::make_unique<ConfigWatch>(
      ConfigWatch::Plugs{loop_, store_->clock(), *store_, *bus_, log_}, std::move(files),
      config_.reload_every,
      ConfigWatch::Use{.pools = [this](auto map) { return book_->replace_file(std::move(map)); },
                       .timeouts =
                           [this](const scheduler::TimeoutsFile& file) {
                             scheduler_->set_timeouts(
                                 {config_.dispatch_timeout.value_or(file.timeouts.dispatch),
                                  config_.running_timeout.value_or(file.timeouts.running)},
                                 file.topics);
                           },
                       .fail_mode =
                           [this](scheduler::FailMode mode) {
                             if (config_.fail_mode_given) return;
                             scheduler_->set_fail_open(mode == scheduler::FailMode::kOpen);
                           },
                       .others = [this] { return book_->reread(); }});
  book_->on_changed([this] { config_watch_->announce("fairlead", "pools"); });
  redis_watch_ = std::make_unique<RedisWatch>(
      loop_, clock_, *store_, log_,
      [this](Duration machine, Duration in_use) { scheduler_->set_clock_offset(machine, in_use); });
}

Task<void> ClusterServer::live() {
  outcome_ = co_await start();
  if (!outcome_) {
    loop_.stop();
    co_return;
  }
  started_ = true;
  announce();
  front_.begin_watching([this](auto pools) { return config_watch_->take_pools(std::move(pools)); });
  tasks_.spawn(keep_registered());
  tasks_.spawn(keep_greeting());
  tasks_.spawn(config_watch_->keep_watching());
  tasks_.spawn(redis_watch_->keep_comparing());
  if (bus_->uses_jetstream()) {
    for (std::string_view subject : {bus::kSubmitSubject, bus::kResultSubject}) {
      recoveries_.spawn(keep_recovering(std::string(subject)));
    }
  }
  if (drain_wanted_) co_await stop();
}

Task<Result<void>> ClusterServer::start() {
  if (auto bus = co_await bus_->start(); !bus) co_return bus;
  if (auto bound = co_await bind(); !bound) co_return bound;
  warn_of_replays();
  if (auto settings = co_await redis_watch_->check_settings(config_.production); !settings) {
    co_return settings;
  }
  if (auto book = co_await book_->start(); !book) co_return book;
  if (auto config = co_await config_watch_->start(); !config) co_return config;
  if (auto scheduler = co_await scheduler_->start(); !scheduler) co_return scheduler;
  co_return front_.listen(*backend_, config_.gateway);
}

Task<Result<void>> ClusterServer::bind() {
  for (std::string_view subject : {bus::kSubmitSubject, bus::kResultSubject}) {
    auto bound = co_await bus_->bind(std::string(subject), std::string(bus::kSchedulerQueue));
    if (!bound) co_return bound;
  }
  co_return Result<void>{};
}

// A consumer that is made anew is given everything that its stream still has.
void ClusterServer::warn_of_replays() {
  const Duration kept = config_.redis.ended_job_ttl;
  if (!bus_->uses_jetstream() || bus_->stream_age() <= kept) return;
  log_.warning(
      "streams keep submits for longer than ended jobs are kept (JOB_META_TTL, NATS_JS_MAX_AGE): "
      "those that come again after that time are refused",
      {{"streams", scheduler::go_duration(bus_->stream_age())},
       {"jobs", scheduler::go_duration(kept)}});
}

Task<void> ClusterServer::keep_recovering(std::string subject) {
  bus::nats::Recovery recovery = bus_->recovery(
      subject, bus::kSchedulerQueue,
      [this](std::vector<std::string> marks) { return store_->processed(std::move(marks)); });
  // What may take messages with it, or the answers to them.
  auto losses = [this] { return std::pair(store_->deaths(), bus_->counters().connections); };
  auto known = losses();
  MonotonicTime look_again_at = loop_.now() + kLookAgainEvery;
  bool failing = false;
  while (co_await loop_.delay(limits::kRecoverEvery)) {
    if (losses() != known || loop_.now() >= look_again_at) {
      known = losses();
      look_again_at = loop_.now() + kLookAgainEvery;
      recovery.look_again();
    }
    auto found = co_await recovery.run(limits::kRecoverAfter);
    // Without a connection there is nothing to be read, and that is told elsewhere.
    if (!found && !failing && bus_->connected()) {
      log_.error("messages that nobody answered cannot be read",
                 {{"subject", subject}, {"error", found.error().message}});
    }
    failing = !found;
    if (found && found->unreadable > 0) {
      log_.error("messages of the stream cannot be read and are passed over",
                 {{"subject", subject}, {"messages", std::to_string(found->unreadable)}});
    }
    if (found && found->recovered > 0) {
      log_.info("messages recovered that nobody answered",
                {{"subject", subject}, {"messages", std::to_string(found->recovered)}});
    }
  }
}

Task<void> ClusterServer::keep_registered() {
  const Build build = build_info();
  const std::string& id = scheduler_->name();
  const std::string text =
      boost::json::serialize(boost::json::object{{"id", id},
                                                 {"service", "scheduler"},
                                                 {"version", build.version},
                                                 {"commit", build.commit},
                                                 {"started_at", rfc3339_seconds(now())}});
  do {
    store::Blob blob{text, now() + kRegisteredFor};
    (void)co_await store_->put_blob("cordum:instance:scheduler:" + id, std::move(blob),
                                    store::BlobCondition::kAlways);
  } while (co_await loop_.delay(kRegisterEvery));
}

Task<void> ClusterServer::keep_greeting() {
  uint64_t greeted = 0;
  do {
    const uint64_t connection = bus_->counters().connections;
    if (connection == greeted || !bus_->connected()) continue;
    greeted = connection;
    (void)co_await bus_->publish(std::string(bus::kHandshakeSubject),
                                 scheduler::handshake_packet(random_.token(), now()), {});
  } while (co_await loop_.delay(kGreetLookEvery));
}

void ClusterServer::announce() {
  std::string line =
      fmt::format("fairlead is ready: {}, bus {}, metrics {}",
                  config_.gateway ? "scheduler and gateway" : "scheduler",
                  bus_->uses_jetstream() ? "JetStream" : "NATS", front_.metrics_url());
  if (config_.gateway) line += fmt::format(", api {}", front_.api_url());
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

void ClusterServer::drain() {
  loop_.post([this] {
    if (std::exchange(drain_wanted_, true)) return;
    if (started_) tasks_.spawn(stop());
  });
}

// Who calls first hears first; then what is on its way is handled, and what is not done by then
// goes back to the others.
Task<void> ClusterServer::stop() {
  log_.info("draining", {});
  co_await front_.stop(kDrainCalls);
  recoveries_.cancel();
  co_await bus_->drain(kDrainBus);
  co_await scheduler_->stop(kDrainScheduler);
  bus_->cancel();
  (void)co_await bus_->idle();
  (void)co_await store_->erase_blob("cordum:instance:scheduler:" + scheduler_->name());
  (void)co_await store_->leave(scheduler_->name());
  log_.info("stopped", {});
  loop_.stop();
}

void ClusterServer::take_apart() {
  tasks_.drop();
  recoveries_.drop();
  front_.close();
  if (bus_) bus_->drop();
  backend_.reset();
  config_watch_.reset();
  redis_watch_.reset();
  book_.reset();
  scheduler_.reset();
  gate_.reset();
  bus_.reset();
  store_.reset();
}

}  // namespace fairlead::app
