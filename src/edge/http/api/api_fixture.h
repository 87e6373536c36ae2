// For tests: the API over a scheduler in memory and virtual time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "bus/local/local_bus.h"
#include "cordum/agent/v1/buspacket.pb.h"
#include "edge/http/api/api.h"
#include "edge/http/api/backend.h"
#include "edge/http/api/text.h"
#include "gate/topic_gate.h"
#include "job/request.h"
#include "runtime/nursery.h"
#include "scheduler/replica_fixture.h"
#include "store/memory/memory_store.h"

namespace fairlead::http {

using namespace std::chrono_literals;

// A reply with its body made and read.
struct Answered {
  int status = 0;
  json::value body;
  Pairs headers;

  const json::object& object() const { return body.as_object(); }
  std::string text(const char* name) const {
    const json::value* value = body.is_object() ? object().if_contains(name) : nullptr;
    return value && value->is_string() ? std::string(value->get_string()) : "";
  }
  const json::array& items() const { return object().at("items").as_array(); }
  std::string header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return "";
  }
};

// Answers to every route are held against the published description.
void check_described(const Api& api, const Request& request, const Answered& answer);

class ApiTest : public testing::Test {
 protected:
  ApiTest() { start(); }

  void start() {
    auto file = std::make_shared<routing::PoolMap>(*routing::parse_pool_map(kPools));
    scheduler::Settings settings;
    settings.alone = true;
    bus_ = std::make_unique<bus::LocalBus>(loop_, clock_, store_);
    scheduler_ = std::make_unique<scheduler::Scheduler>(
        scheduler::Plugs{loop_, clock_, random_, store_, *bus_, gate_, log_}, settings, file);
    pools_ = std::make_unique<PoolBook>(
        loop_, store_, file, [this](auto map) { scheduler_->set_pools(std::move(map)); });
    backend_ =
        std::make_unique<Backend>(Backend{loop_, clock_, random_, store_, *bus_, log_, *scheduler_,
                                          *pools_, Build{}, clock_.monotonic()});
    EXPECT_TRUE(run(bus_->start()).has_value());
    EXPECT_TRUE(run(pools_->start()).has_value());
    EXPECT_TRUE(run(scheduler_->start()).has_value());
  }
  // As after a crash: what is left is what the store has.
  void restart() {
    backend_.reset();
    pools_.reset();
    scheduler_.reset();
    bus_.reset();
    start();
  }

  template <class T>
  T run(Task<T> task) {
    std::optional<T> value;
    auto keep = [](Task<T> inner, std::optional<T>& into) -> Task<void> {
      into.emplace(co_await std::move(inner));
    };
    tasks_.spawn(keep(std::move(task), value));
    loop_.run_ready();
    for (int steps = 0; !value && steps < 1000; ++steps) loop_.run_for(100ms);
    EXPECT_TRUE(value.has_value()) << "the task waits for something";
    return std::move(*value);
  }

  // One call, as an admin who sees every tenant unless the test says otherwise.
  Answered call(Method method, std::string target, std::string body = {}, Pairs headers = {}) {
    Request request;
    size_t mark = std::min(target.find('?'), target.size());
    request.path = target.substr(0, mark);
    if (mark < target.size()) request.query = parse_query(target.substr(mark + 1)).value();
    request.method = method;
    request.body = std::move(body);
    request.headers = std::move(headers);
    request.caller = caller_;
    ReadTools tools{random_, clock_};
    Request asked = request;
    auto planned = api_.plan(request, tools);
    Reply reply = planned ? run(planned->call(*backend_)) : std::move(planned.error());
    Answered answer{reply.status, nullptr, std::move(reply.headers)};
    std::string text = reply.render ? reply.render() : reply.body;
    const bool is_json = reply.content_type == "application/json";
    if (!text.empty()) answer.body = is_json ? json::parse(text) : json::value(text);
    check_described(api_, asked, answer);
    return answer;
  }
  Answered get(std::string target, Pairs headers = {}) {
    return call(Method::kGet, std::move(target), {}, std::move(headers));
  }
  Answered post(std::string target, std::string body = "{}", Pairs headers = {}) {
    return call(Method::kPost, std::move(target), std::move(body), std::move(headers));
  }

  std::string submit_job(std::string body = R"({"prompt":"hello"})", Pairs headers = {}) {
    Answered answer = post("/api/v1/jobs", std::move(body), std::move(headers));
    EXPECT_EQ(answer.status, 200) << json::serialize(answer.body);
    return answer.text("job_id");
  }

  void publish(std::string_view subject, cordum::agent::v1::BusPacket packet) {
    packet.set_trace_id("trace");
    packet.set_sender_id("test");
    packet.set_protocol_version(1);
    (void)bus_->publish(std::string(subject), job::serialise(packet), {});
    loop_.run_ready();
  }
  // A worker of the pool says that it is there, and is listened to.
  void worker(const std::string& id, const std::string& pool = "default", int32_t slots = 4) {
    if (!subscriptions_.contains(id)) {
      auto take = [](bus::Delivery) -> Task<bus::Verdict> { co_return bus::Verdict::ack(); };
      subscriptions_[id] = bus_->subscribe("worker." + id + ".jobs", {}, take).value();
    }
    cordum::agent::v1::BusPacket packet;
    auto& heartbeat = *packet.mutable_heartbeat();
    heartbeat.set_worker_id(id);
    heartbeat.set_pool(pool);
    heartbeat.set_max_parallel_jobs(slots);
    publish(bus::kHeartbeatSubject, packet);
  }
  void finish(const std::string& job, const std::string& worker_id,
              cordum::agent::v1::JobStatus status = cordum::agent::v1::JOB_STATUS_SUCCEEDED,
              const std::string& result_ptr = {}) {
    cordum::agent::v1::BusPacket packet;
    auto& result = *packet.mutable_job_result();
    result.set_job_id(job);
    result.set_worker_id(worker_id);
    result.set_status(status);
    result.set_result_ptr(result_ptr);
    publish(bus::kResultSubject, packet);
  }
  std::string state_of(const std::string& job) {
    auto loaded = run_answer(store_.load(JobId(job), {}));
    return loaded.record ? job::to_string(loaded.record->state) : "";
  }
  template <class T>
  T run_answer(store::Answer<T> answer) {
    auto await = [](store::Answer<T> future) -> Task<Result<T>> { co_return co_await future; };
    return *run(await(std::move(answer)));
  }

  bool run_answer_void(store::Answer<void> answer) {
    auto await = [](store::Answer<void> future) -> Task<Result<void>> {
      co_return co_await future;
    };
    return run(await(std::move(answer))).has_value();
  }

  static constexpr const char* kPools = R"(
topics:
  job.default: default
  job.train: [gpu]
pools:
  default: {}
  gpu: {requires: [cuda]}
)";

  SimulatedLoop loop_;
  scheduler::LoopClock clock_{loop_};
  SeededRandom random_{1};
  NoLog log_;
  store::MemoryStore store_{clock_};
  gate::TopicGate gate_;
  std::unique_ptr<bus::LocalBus> bus_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::unique_ptr<PoolBook> pools_;
  std::unique_ptr<Backend> backend_;
  std::map<std::string, std::unique_ptr<bus::Subscription>> subscriptions_;
  Api api_;
  Caller caller_{.tenant = TenantId("default"),
                 .all_tenants = true,
                 .role = Role::kAdmin,
                 .cross_tenant = true};
  Nursery tasks_;
};

}  // namespace fairlead::http
