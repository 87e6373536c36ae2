#include "edge/http/api/job_submit.h"

#include <fmt/core.h>

#include <boost/json/serialize.hpp>

#include "cordum/agent/v1/buspacket.pb.h"
#include "edge/http/api/text.h"
#include "job/request.h"

namespace fairlead::http {

namespace {

namespace cap = cordum::agent::v1;
using job::ReasonCode;
using job::State;

json::object warning(std::string_view code, std::string_view message) {
  return {{"code", code}, {"message", message}};
}

// Why the job does not run now, if it does not.
json::array warnings_of(const job::Record& record) {
  json::array warnings;
  if (record.wait) {
    warnings.push_back(warning(job::to_string(record.wait->reason), record.wait->detail));
  } else if (record.state == State::kFailed) {
    warnings.push_back(warning(record.error_code, record.error_message));
  }
  return warnings;
}

Reply accepted(const JobId& job, const TraceId& trace, json::array warnings) {
  json::object body{{"job_id", job.str()}, {"trace_id", trace.str()}};
  if (!warnings.empty()) body["warnings"] = std::move(warnings);
  return std::move(reply_json(200, body).with("X-Trace-Id", trace.str()));
}

Reply unknown_topic(const Backend& backend, const Topic& topic) {
  json::array known;
  for (const auto& [name, entry] : backend.pools.topics()) {
    if (known.size() == limits::kTopicsNamedMax) break;
    known.emplace_back(name);
  }
  bool truncated = known.size() < backend.pools.topics().size();
  return problem(400, fmt::format("there is no topic {}", topic.str()), "unknown_topic",
                 {{"registered_topics", std::move(known)},
                  {"truncated", truncated},
                  {"topics_endpoint", "/api/v1/topics"}});
}

// The answer about a job that is stored.
Reply answer_of(const job::Record& record) {
  if (record.state == State::kDenied) {
    Reply reply =
        problem(403, record.error_message.empty() ? "denied by policy" : record.error_message,
                "policy_denied", {{"job_id", record.id.str()}, {"trace_id", record.trace.str()}});
    return std::move(reply.with("X-Trace-Id", record.trace.str()));
  }
  if (record.state == State::kApprovalRequired) {
    json::object body{{"job_id", record.id.str()},
                      {"status", "approval_required"},
                      {"reason", record.decision.reason}};
    return std::move(reply_json(200, body).with("X-Trace-Id", record.trace.str()));
  }
  return accepted(record.id, record.trace, warnings_of(record));
}

// A repeat of a key: the first job is the answer.
Reply replay_of(const job::Record& first, const Submission& submission) {
  cap::BusPacket packet;
  packet.ParseFromString(submission.packet);
  json::array warnings = warnings_of(first);
  if (job::job_hash(packet.job_request()) != first.request_hash) {
    warnings.push_back(warning("idempotency_mismatch",
                               "the key belongs to a job of other content, which is the answer"));
  }
  return accepted(first.id, first.trace, std::move(warnings));
}

}  // namespace

std::string submit_packet(cap::JobRequest request, const TraceId& trace, WallTime now) {
  cap::BusPacket packet;
  packet.set_trace_id(trace.str());
  packet.set_sender_id("cordum-api-gateway");
  packet.set_protocol_version(1);
  int64_t micros = to_micros(now);
  packet.mutable_created_at()->set_seconds(micros / 1'000'000);
  packet.mutable_created_at()->set_nanos(static_cast<int32_t>(micros % 1'000'000) * 1000);
  *packet.mutable_job_request() = std::move(request);
  return job::serialise(packet);
}

Task<Reply> submit(Backend& backend, Submission submission) {
  auto topic = backend.pools.topics().find(submission.topic.str());
  if (topic == backend.pools.topics().end()) co_return unknown_topic(backend, submission.topic);
  if (!topic->second.enabled) {
    co_return problem(400, fmt::format("topic {} is disabled", submission.topic.str()),
                      "topic_disabled");
  }
  if (submission.packet.size() > limits::kPacketBytesMax) {
    co_return problem(413,
                      fmt::format("labels and other fields beside prompt and context come to "
                                  "{} bytes, at most {} are allowed",
                                  submission.packet.size(), limits::kPacketBytesMax),
                      "request_too_large");
  }
  if (submission.keyed) {
    Result<store::Loaded> first = co_await backend.store.load(submission.job, {});
    if (!first) co_return problem_of(first.error());
    if (first->record) co_return replay_of(*first->record, submission);
  }

  // Published before it is put, so that the scheduler's commit and the context leave together.
  std::string packet = submission.keyed ? submission.packet : std::move(submission.packet);
  auto publishing = backend.bus.publish(std::string(bus::kSubmitSubject), std::move(packet), {});
  auto keeping = backend.store.put_blob(
      context_key(submission.job.str()),
      {std::move(submission.context), backend.clock.wall() + limits::kEndedJobTtl},
      submission.keyed ? store::BlobCondition::kIfAbsent : store::BlobCondition::kAlways);
  Result<bus::Published> published = co_await std::move(publishing);
  Result<bool> kept = co_await std::move(keeping);
  if (!published) co_return problem_of(published.error());
  if (*published == bus::Published::kRefused) {
    // Under a key it may be the context of another who was taken.
    if (!submission.keyed) (void)backend.store.erase_blob(context_key(submission.job.str()));
    co_return std::move(
        problem(429, "the queue of jobs is full", "BACKPRESSURE").with("Retry-After", "1"));
  }
  if (!kept) {
    (void)co_await backend.scheduler.cancel(submission.job, "its context could not be stored");
    co_return problem_of(kept.error());
  }
  if (*published == bus::Published::kUnknown) {
    co_return problem_of({ErrorCode::kUnknown, "the bus did not answer"});
  }

  Result<store::Loaded> loaded = co_await backend.store.load(submission.job, {});
  if (!loaded) co_return problem_of(loaded.error());
  if (loaded->record) {
    // Two of one key at once: the later one finds the earlier one's job.
    if (submission.keyed && loaded->record->trace != submission.trace) {
      co_return replay_of(*loaded->record, submission);
    }
    co_return answer_of(*loaded->record);
  }
  if (submission.keyed) {
    co_return problem(409,
                      "the idempotency key belongs to a job that is no longer kept or was "
                      "submitted elsewhere: there is nothing to replay",
                      "IDEMPOTENCY_CONFLICT");
  }
  co_return accepted(submission.job, submission.trace,
                     {warning("queued", "it is stored and waits for the scheduler")});
}

}  // namespace fairlead::http
