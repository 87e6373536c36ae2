// For tests of the store in Redis that look at the server itself: a store on the shared server, and
// the commits of a job's usual walk.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "cordum/agent/v1/job.pb.h"
#include "job/request.h"
#include "store/contract/pump_loop.h"
#include "store/redis/redis_fixture.h"

namespace fairlead::store::redis {

using namespace std::chrono_literals;
namespace cap = cordum::agent::v1;
using job::State;

class WalkTest : public testing::Test {
 protected:
  WalkTest() {
    server().ask({"FLUSHALL"});
    store_ = open();
  }

  cluster::RedisServerProcess& server() { return shared_server(); }
  std::unique_ptr<RedisStore> open() { return open_store(server().url(), loop_, clock_); }

  template <class T>
  T get(Answer<T> answer) {
    Result<T> result = loop_.wait(std::move(answer));
    EXPECT_TRUE(result) << result.error().message;
    check(result.has_value(), "the call succeeds");
    if constexpr (!std::is_void_v<T>) return *std::move(result);
  }
  template <class Kind>
  Kind apply(Change change) {
    Receipt receipt = get(store_->apply(std::move(change)));
    EXPECT_TRUE(std::holds_alternative<Kind>(receipt)) << "receipt " << receipt.index();
    if (auto* kind = std::get_if<Kind>(&receipt)) return std::move(*kind);
    return Kind{};
  }
  Snapshot load(const std::string& job) { return get(store_->load(JobId(job), {})).record; }

  static cap::JobRequest request(const std::string& job) {
    cap::JobRequest request;
    request.set_job_id(job);
    request.set_topic("job.test");
    request.set_tenant_id("acme");
    request.set_principal_id("ada");
    request.set_context_ptr("redis://ctx:" + job);
    request.set_memory_id("m");
    (*request.mutable_env())["team_id"] = "blue";
    (*request.mutable_labels())["colour"] = "red";
    request.mutable_budget()->set_deadline_ms(60'000);
    request.mutable_meta()->set_capability("sum");
    request.mutable_meta()->set_idempotency_key("key-" + job);
    request.mutable_meta()->add_requires("gpu");
    request.mutable_meta()->add_risk_tags("low");
    return request;
  }

  // PENDING, SCHEDULED and DISPATCHED in one commit, under the job's lease.
  Change dispatch(const cap::JobRequest& request, const std::string& lease = {}) {
    Change change;
    change.guard.lease = lease;
    change.request = request.SerializeAsString();
    change.tenant_limit = 100;
    change.worker_limit = 100;
    change.path = {State::kPending, State::kScheduled, State::kDispatched};
    job::Record& next = *change.next = job::new_record(request, TraceId("trace"), clock_.wall());
    job::add_event(next, clock_.wall(), "submitted");
    next.state = State::kScheduled;
    job::add_event(next, clock_.wall(), {});
    next.state = State::kDispatched;
    next.attempts = 1;
    next.deliveries = 1;
    next.epoch = Epoch(1);
    next.assignee = WorkerId("w");
    next.dispatched_at = clock_.wall();
    next.publish_pending = true;
    next.due = clock_.wall() + 5min;
    next.decision.kind = job::Decision::Kind::kAllow;
    next.decision.checked_at = clock_.wall();
    job::add_event(next, clock_.wall(), "w");
    return change;
  }
  Change run(const job::Record& record, const std::string& lease = {}) {
    Change change = follow(record, State::kRunning);
    change.guard.lease = lease;
    change.release_lease = !lease.empty();
    change.next->publish_pending = false;
    change.next->due = clock_.wall() + 15min;
    return change;
  }
  Change succeed(const job::Record& record) {
    Change change = follow(record, State::kSucceeded);
    change.next->result_ptr = "redis://res:" + record.id.str();
    change.next->due.reset();
    return change;
  }
  Change follow(const job::Record& record, State state) {
    clock_.advance(1s);
    Change change;
    change.guard.revision = record.revision;
    change.path = {state};
    *change.next = record;
    change.next->state = state;
    change.next->updated_at = clock_.wall();
    job::add_event(*change.next, clock_.wall(), {});
    return change;
  }

  store::PumpLoop loop_;
  store::ManualClock clock_;
  std::unique_ptr<RedisStore> store_;
};

}  // namespace fairlead::store::redis
