// What the Go services do in Redis, command by command as their layout says; nothing of our store
// is used here.
#pragma once

#include <cstdint>
#include <string>

#include "tests/cluster/redis_server_process.h"

namespace fairlead::store::redis {

class GoServices {
 public:
  explicit GoServices(cluster::RedisServerProcess& server) : server_(server) {}

  static constexpr const char* kMetaTtl = "604800";

  // A gateway takes a job: state, topic, tenant, trace, metadata and request, one after the other.
  void submit(const std::string& job, int64_t now) {
    set_state(job, "", "PENDING", now, event(now, "PENDING"));
    server_.ask({"HSET", "job:meta:" + job, "topic", "job.test"});
    server_.ask({"HSET", "job:meta:" + job, "tenant", "acme"});
    server_.ask({"SADD", "trace:trace", job});
    server_.ask({"HSET", "job:meta:" + job, "trace_id", "trace"});
    server_.ask({"HSET", "job:meta:" + job, "topic", "job.test", "tenant", "acme", "team", "blue",
                 "principal", "ada", "memory_id", "", "actor_id", "ada", "labels",
                 R"({"colour":"red"})"});
    server_.ask({"EXPIRE", "job:meta:" + job, kMetaTtl});
    server_.ask({"SET", "job:req:" + job, request(job, R"("colour":"red")"), "EX", kMetaTtl});
    server_.ask({"HSET", "job:meta:" + job, "submitted_by", "apikey:01234567|principal:ada"});
  }

  // Go's protojson puts blanks where it likes; a newer service has fields that we do not know.
  static std::string request(const std::string& job, const std::string& labels) {
    return R"({"jobId":")" + job +
           R"(", "topic":"job.test", "priority":"JOB_PRIORITY_BATCH", "contextPtr":"redis://ctx:)" +
           job +
           R"(",  "adapterId":"", "env":{"team_id":"blue"}, "parentJobId":"", "workflowId":"wf",)"
           R"("stepIndex":3, "memoryId":"", "contextHints":null,  "budget":{"maxInputTokens":"0",)"
           R"("maxOutputTokens":"9007199254740993", "maxTotalTokens":"0", "deadlineMs":"0"},)"
           R"("tenantId":"acme", "principalId":"ada", "labels":{)" +
           labels +
           R"(}, "meta":null, "compensation":null, "identity":null, "dispatch":null,)"
           R"("contextRef":null, "ofALaterVersion":{"x":1}})";
  }

  void cancel(const std::string& job, int64_t now) {
    std::string from = server_.text({"HGET", "job:meta:" + job, "state"});
    set_state(job, from, "CANCELLED", now, event(now, "CANCELLED"));
    server_.ask({"SREM", "job:tenant:active:acme", job});
    end(job);
  }
  void succeed(const std::string& job, int64_t now) {
    std::string from = server_.text({"HGET", "job:meta:" + job, "state"});
    server_.ask({"HSET", "job:meta:" + job, "result_ptr", "redis://res:" + job});
    set_state(job, from, "SUCCEEDED", now, event(now, "SUCCEEDED"));
    server_.ask({"SREM", "job:tenant:active:acme", job});
    end(job);
  }

  // An approval in the gateway: with labels in the request, and an event of the old form.
  void approve(const std::string& job, int64_t now) {
    server_.ask({"HSET", "job:meta:" + job, "approval_by", "grace", "approval_at",
                 std::to_string(now), "approval_status", "approved", "approval_actionability",
                 "resolved", "approval_revision", "2", "approval_decision", "approve",
                 "approval_publish_status", "pending", "approval_publish_target", "submit"});
    server_.ask({"SET", "job:req:" + job,
                 request(job, R"("colour":"red", "approval_granted":"true", "size":"")"), "EX",
                 kMetaTtl});
    set_state(job, "APPROVAL_REQUIRED", "PENDING", now, std::to_string(now) + "|PENDING");
  }

  void set_state(const std::string& job, const std::string& from, const std::string& to,
                 int64_t now, const std::string& event) {
    std::string at = std::to_string(now);
    server_.ask({"MULTI"});
    server_.ask({"HSET", "job:meta:" + job, "state", to, "updated_at", at, "attempts", "0"});
    server_.ask({"SET", "job:state:" + job, to});
    if (!from.empty()) server_.ask({"ZREM", index(from), job});
    server_.ask({"ZADD", index(to), at, job});
    server_.ask({"ZADD", "job:recent", at, job});
    server_.ask({"ZREMRANGEBYRANK", "job:recent", "0", "-1001"});
    server_.ask({"EXPIRE", "job:meta:" + job, kMetaTtl});
    server_.ask({"EXPIRE", "job:state:" + job, kMetaTtl});
    server_.ask({"EXPIRE", "job:result_ptr:" + job, kMetaTtl});
    server_.ask({"RPUSH", "job:events:" + job, event});
    server_.ask({"EXEC"});
  }

  static std::string event(int64_t now, const std::string& state) {
    return R"({"ts":)" + std::to_string(now) + R"(,"state":")" + state + R"("})";
  }

 private:
  static std::string index(std::string state) {
    for (char& c : state) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return "job:index:" + state;
  }
  void end(const std::string& job) {
    server_.ask({"ZREM", "job:deadline", job});
    server_.ask({"HDEL", "job:meta:" + job, "deadline_unix"});
  }

  cluster::RedisServerProcess& server_;
};

}  // namespace fairlead::store::redis
