// For tests: the embedded core with its two listeners, on a thread, that can lose its listeners and
// get them back.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "bus/local/local_bus.h"
#include "cordum/agent/v1/buspacket.pb.h"
#include "edge/nats/nats_listener.h"
#include "edge/resp/resp_listener.h"
#include "gate/topic_gate.h"
#include "job/request.h"
#include "runtime/asio_loop.h"
#include "runtime/nursery.h"
#include "runtime/random.h"
#include "scheduler/scheduler.h"
#include "store/memory/memory_store.h"

namespace fairlead {

namespace cap = cordum::agent::v1;
using namespace std::chrono_literals;

class EmbeddedServer {
 public:
  explicit EmbeddedServer(edge::Credentials credentials = {})
      : credentials_(std::move(credentials)) {
    thread_ = std::thread([this] { loop_.run(); });
    auto pools = std::make_shared<routing::PoolMap>(*routing::parse_pool_map(
        "topics: {job.default: default, job.other: default}\npools: {default: {}}\n"));
    on_loop([&] {
      scheduler::Settings settings;
      settings.alone = true;
      scheduler_ = std::make_unique<scheduler::Scheduler>(
          scheduler::Plugs{loop_, clock_, random_, store_, bus_, gate_, log_}, settings, pools);
      return true;
    });
    EXPECT_TRUE(finish(bus_.start()));
    EXPECT_TRUE(finish(scheduler_->start()));
    listen();
  }
  ~EmbeddedServer() {
    on_loop([&] {
      taps_.clear();
      nats_.reset();
      resp_.reset();
      tasks_.drop();
      bus_.drop();
      scheduler_.reset();
      return true;
    });
    loop_.stop();
    thread_.join();
  }

  // On the ports of before, where there were some.
  void listen() {
    on_loop([&] {
      nats_.emplace(edge::NatsListener::Plugs{loop_, clock_, random_, bus_, log_},
                    edge::NatsOptions{
                        .address = "127.0.0.1", .port = nats_port_, .credentials = credentials_});
      EXPECT_TRUE(nats_->start().has_value());
      nats_port_ = nats_->port();
      return true;
    });
    start_payloads();
  }
  void start_payloads() {
    on_loop([&] {
      resp_.emplace(edge::RespListener::Plugs{loop_, clock_, store_},
                    edge::RespOptions{
                        .address = "127.0.0.1", .port = resp_port_, .credentials = credentials_});
      EXPECT_TRUE(resp_->start().has_value());
      resp_port_ = resp_->port();
      return true;
    });
  }
  void stop_payloads() {
    on_loop([&] {
      resp_.reset();
      return true;
    });
  }
  // As a crash would: connections end, nothing is said.
  void stop_listening() {
    on_loop([&] {
      nats_.reset();
      resp_.reset();
      return true;
    });
  }

  // Submits a job with this payload; its id is `job`.
  void submit(const std::string& job, std::string payload, int64_t deadline_ms = 0,
              const std::string& topic = "job.default") {
    cap::JobRequest request;
    request.set_job_id(job);
    request.set_topic(topic);
    request.set_tenant_id("default");
    request.set_context_ptr("redis://ctx:" + job);
    if (deadline_ms > 0) request.mutable_budget()->set_deadline_ms(deadline_ms);
    (*request.mutable_env())["CORDUM_NOTE"] = "from the request";
    (*request.mutable_env())["PATH"] = "/evil";
    EXPECT_TRUE(finish(keep([&] {
      return store_.put_blob("ctx:" + job, {std::move(payload), clock_.wall() + 1h},
                             store::BlobCondition::kAlways);
    })));
    cap::BusPacket packet;
    *packet.mutable_job_request() = std::move(request);
    publish("sys.job.submit", std::move(packet));
  }
  void publish(const std::string& subject, cap::BusPacket packet) {
    packet.set_trace_id("trace-1");
    packet.set_sender_id("test");
    packet.set_protocol_version(1);
    EXPECT_TRUE(finish(keep([&] { return bus_.publish(subject, job::serialise(packet), {}); })));
  }
  void cancel(const std::string& job) {
    auto ended = [](scheduler::Scheduler& scheduler, JobId id) -> Task<Result<void>> {
      (void)co_await scheduler.cancel(id, "a test wants it");
      co_return Result<void>{};
    };
    EXPECT_TRUE(finish(ended(*scheduler_, JobId(job))));
  }

  // The record once it is in the state; looked at until then, or until patience ends.
  std::optional<job::Record> wait_for(const std::string& job, job::State state) {
    return wait_until(job, [state](const job::Record& record) { return record.state == state; });
  }
  std::optional<job::Record> wait_until(const std::string& job,
                                        std::function<bool(const job::Record&)> good) {
    std::optional<job::Record> found;
    auto look = [&](Loop& loop, store::Store& store) -> Task<Result<void>> {
      for (int tries = 0; tries < 6000; ++tries) {
        auto loaded = co_await store.load(JobId(job), {});
        if (loaded && loaded->record) {
          if (good(*loaded->record)) {
            found = *loaded->record;
            break;
          }
          last_ = job::to_string(loaded->record->state);
        }
        (void)co_await loop.delay(5ms);
      }
      co_return Result<void>{};
    };
    finish(look(loop_, store_));
    EXPECT_TRUE(found.has_value()) << job << " stays " << last_;
    return found;
  }
  std::string blob(const std::string& key) {
    std::string bytes;
    auto read = [&](store::Store& store) -> Task<Result<void>> {
      auto loaded = co_await store.blob(key);
      if (loaded && *loaded) bytes = (*loaded)->bytes;
      co_return Result<void>{};
    };
    finish(read(store_));
    return bytes;
  }

  // How long it is kept from now on; nothing: for ever, or it is not there.
  std::optional<Duration> blob_kept(const std::string& key) {
    std::optional<Duration> kept;
    auto read = [&](store::Store& store) -> Task<Result<void>> {
      auto loaded = co_await store.blob(key);
      if (loaded && *loaded && (*loaded)->expires) kept = *(*loaded)->expires - clock_.wall();
      co_return Result<void>{};
    };
    finish(read(store_));
    return kept;
  }

  // Packets on a subject from now on.
  void tap(const std::string& subject) {
    on_loop([&] {
      auto take = [this](bus::Delivery delivery) -> Task<bus::Verdict> {
        cap::BusPacket packet;
        std::string bytes(delivery.payload.begin(), delivery.payload.end());
        if (packet.ParseFromString(bytes)) tapped_.push_back(std::move(packet));
        co_return bus::Verdict::ack();
      };
      taps_.push_back(bus_.subscribe(subject, {}, take).value());
      return true;
    });
  }
  std::vector<cap::BusPacket> tapped() {
    return on_loop([&] { return tapped_; });
  }
  // Of those from that number on.
  bool wait_tapped(std::function<bool(const cap::BusPacket&)> good, size_t from = 0) {
    return becomes([&] {
      bool found = false;
      for (size_t i = from; i < tapped_.size(); ++i) found |= good(tapped_[i]);
      return found;
    });
  }

  size_t workers() {
    return on_loop([&] { return scheduler_->registry().size(); });
  }
  bool wait_workers(size_t count) {
    return becomes([&] { return scheduler_->registry().size() == count; });
  }
  bool wait_worker(const std::string& id, std::function<bool(const routing::WorkerView&)> good) {
    return becomes([&] {
      const routing::WorkerView* view = scheduler_->registry().find(WorkerId(id));
      return view && good(*view);
    });
  }

  template <class Work>
  std::invoke_result_t<Work> on_loop(Work work) {
    std::promise<decltype(work())> done;
    loop_.post([&] { done.set_value(work()); });
    return done.get_future().get();
  }

  uint16_t nats_port() const { return nats_port_; }
  uint16_t resp_port() const { return resp_port_; }

 private:
  // Looks on the loop until it is true, or patience ends.
  bool becomes(const std::function<bool()>& good) {
    bool found = false;
    auto look = [&](Loop& loop) -> Task<Result<void>> {
      for (int tries = 0; tries < 6000 && !found; ++tries) {
        found = good();
        if (!found) (void)co_await loop.delay(5ms);
      }
      co_return Result<void>{};
    };
    finish(look(loop_));
    return found;
  }
  // What it starts, it starts on the loop's thread.
  template <class Start>
  static Task<Result<void>> keep(Start start) {
    auto value = co_await start();
    if (!value) co_return std::unexpected(value.error());
    co_return Result<void>{};
  }
  bool finish(Task<Result<void>> task) {
    std::promise<bool> done;
    auto run = [](Task<Result<void>> inner, std::promise<bool>& into) -> Task<void> {
      auto result = co_await std::move(inner);
      into.set_value(result.has_value());
    };
    loop_.post([&] { tasks_.spawn(run(std::move(task), done)); });
    return done.get_future().get();
  }

  edge::Credentials credentials_;
  AsioLoop loop_;
  SystemClock clock_;
  SystemRandom random_;
  NoLog log_;
  store::MemoryStore store_{clock_};
  gate::TopicGate gate_;
  bus::LocalBus bus_{loop_, clock_, store_};
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::optional<edge::NatsListener> nats_;
  std::optional<edge::RespListener> resp_;
  Nursery tasks_;
  std::vector<std::unique_ptr<bus::Subscription>> taps_;
  std::vector<cap::BusPacket> tapped_;
  uint16_t nats_port_ = 0;
  uint16_t resp_port_ = 0;
  std::string last_;
  std::thread thread_;
};

}  // namespace fairlead
