#include "edge/http/api/job_submit.h"

#include <algorithm>

#include <fmt/core.h>

#include <boost/json/serialize.hpp>

#include "cordum/agent/v1/buspacket.pb.h"
#include "edge/http/api/text.h"
#include "job/request.h"

namespace fairlead::http {

namespace {

namespace cap = cordum::agent::v1;
using job::State;

// Why the job does not run now, if it does not: it waits, or it has failed already.
json::array warnings_of(const job::Record& record) {
  json::array warnings;
  auto warn = [&](std::string_view code, std::string_view message) {
    json::object told = warning(code, message);
    told["state"] = job::to_string(record.state);
    warnings.push_back(std::move(told));
  };
  if (record.wait) {
    warn(job::to_string(record.wait->reason), record.wait->detail);
  } else if (record.state == State::kFailed) {
    warn(record.error_code, record.error_message);
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

// What the topic's entry demands of every job, beside what the job says of itself.
Result<void> add_demands(const TopicEntry& topic, Submission& submission) {
  if (topic.requires_.empty() && topic.risk_tags.empty()) return {};
  cap::BusPacket packet;
  packet.ParseFromString(submission.packet);
  cap::JobMetadata& meta = *packet.mutable_job_request()->mutable_meta();
  auto add = [](auto& list, const std::vector<std::string>& demanded) {
    for (const std::string& one : demanded) {
      if (std::ranges::find(list, one) == list.end()) *list.Add() = one;
    }
  };
  add(*meta.mutable_requires(), topic.requires_);
  add(*meta.mutable_risk_tags(), topic.risk_tags);
  submission.packet = job::serialise(packet);
  return job::validate(packet.job_request());
}

// A repeat of a key: the first job is the answer, whatever has become of its topic.
Reply replay_of(const Backend& backend, const job::Record& first, Submission submission) {
  // As the first one was when it came. What a topic demanded that is gone nobody knows any more.
  auto topic = backend.pools.topics().find(submission.topic.str());
  const bool known = topic != backend.pools.topics().end();
  if (known) (void)add_demands(topic->second, submission);
  cap::BusPacket packet;
  packet.ParseFromString(submission.packet);
  json::array warnings = warnings_of(first);
  const bool same = job::job_hash(packet.job_request()) == first.request_hash;
  if (!same && (known || submission.topic != first.topic)) {
    warnings.push_back(warning("idempotency_mismatch",
                               "the key belongs to a job of other content, which is the answer"));
  }
  return accepted(first.id, first.trace, std::move(warnings));
}

}  // namespace

cap::BusPacket gateway_packet(const TraceId& trace, WallTime now) {
  cap::BusPacket packet;
  packet.set_trace_id(trace.str());
  packet.set_sender_id("cordum-api-gateway");
  packet.set_protocol_version(1);
  int64_t micros = to_micros(now);
  packet.mutable_created_at()->set_seconds(micros / 1'000'000);
  packet.mutable_created_at()->set_nanos(static_cast<int32_t>(micros % 1'000'000) * 1000);
  return packet;
}

std::string submit_packet(cap::JobRequest request, const TraceId& trace, WallTime now) {
  cap::BusPacket packet = gateway_packet(trace, now);
  *packet.mutable_job_request() = std::move(request);
  return job::serialise(packet);
}

Future<Result<bus::Published>> hand_in(Backend& backend, std::string packet,
                                       scheduler::Admitted admitted) {
  if (backend.hands_over_jobs) {
    return backend.scheduler.submit(std::move(packet), std::move(admitted));
  }
  return backend.bus.publish(std::string(bus::kSubmitSubject), std::move(packet), {});
}

Task<Result<store::Snapshot>> admitted(Backend& backend, JobId job) {
  const MonotonicTime until = backend.loop.now() + limits::kAdmissionWait;
  while (true) {
    Result<store::Loaded> loaded = co_await backend.store.load(job, {});
    if (!loaded) co_return std::unexpected(loaded.error());
    if (loaded->record || backend.loop.now() >= until) co_return std::move(loaded->record);
    if (auto waited = co_await backend.loop.delay(limits::kAdmissionPollEvery); !waited) {
      co_return std::unexpected(waited.error());
    }
  }
}

Reply not_admitted(const JobId& job, const TraceId& trace) {
  return std::move(problem(503,
                           "the job was handed in and is not admitted yet: look for it before "
                           "you submit it again",
                           "not_admitted", {{"job_id", job.str()}, {"trace_id", trace.str()}})
                       .with("Retry-After", "5"));
}

std::optional<Reply> topic_refused(const Backend& backend, const Topic& topic) {
  auto found = backend.pools.topics().find(topic.str());
  if (found == backend.pools.topics().end()) return unknown_topic(backend, topic);
  if (found->second.enabled) return std::nullopt;
  return problem(400, fmt::format("topic {} is disabled", topic.str()), "topic_disabled");
}

Reply queue_full() {
  return std::move(
      problem(429, "the queue of jobs is full", "BACKPRESSURE").with("Retry-After", "1"));
}

namespace {

// Why a job of this topic cannot be taken, if it cannot; otherwise it has what the topic demands.
std::optional<Reply> prepare(Backend& backend, Submission& submission) {
  if (auto refused = topic_refused(backend, submission.topic)) return refused;
  const TopicEntry& topic = backend.pools.topics().at(submission.topic.str());
  if (auto valid = add_demands(topic, submission); !valid) {
    return problem(400, valid.error().message, "invalid_request");
  }
  if (submission.packet.size() <= limits::kPacketBytesMax) return std::nullopt;
  return problem(413,
                 fmt::format("labels and other fields beside prompt and context come to "
                             "{} bytes, at most {} are allowed",
                             submission.packet.size(), limits::kPacketBytesMax),
                 "request_too_large");
}

// Policy in this process is asked before anything is stored: who comes back later comes anew.
Task<std::optional<Reply>> throttle(Backend& backend, const Submission& submission) {
  if (!backend.scheduler.may_throttle()) co_return std::nullopt;
  cap::BusPacket packet;
  packet.ParseFromString(submission.packet);
  auto reason = co_await backend.scheduler.throttled(packet.job_request());
  if (!reason) co_return std::nullopt;
  co_return std::move(problem(429, reason->empty() ? "throttled by policy" : *reason, "throttled")
                          .with("Retry-After", "30"));
}

// The key is another job's, as of one that came over the bus: that is the answer.
Task<std::optional<Reply>> replay_of_holder(Backend& backend, const Submission& submission) {
  auto holder = co_await backend.store.key_holder(submission.tenant, submission.key);
  if (!holder) co_return problem_of(holder.error());
  if (!*holder) co_return std::nullopt;
  Result<store::Loaded> first = co_await backend.store.load(**holder, {});
  if (!first) co_return problem_of(first.error());
  // Admitted just now.
  if (first->record && **holder == submission.job) co_return std::nullopt;
  if (first->record) co_return replay_of(backend, *first->record, submission);
  co_return problem(409,
                    "the idempotency key belongs to a job that is no longer kept: there is nothing "
                    "to replay",
                    "IDEMPOTENCY_CONFLICT");
}

// The answer to a submit that was handed in and taken; `record` is the job, if that is known.
Task<Reply> answer_to(Backend& backend, Submission submission, store::Snapshot record) {
  if (!record) {
    Result<store::Loaded> loaded = co_await backend.store.load(submission.job, {});
    if (!loaded) co_return problem_of(loaded.error());
    record = std::move(loaded->record);
  }
  if (!record && submission.keyed()) {
    if (auto reply = co_await replay_of_holder(backend, submission)) {
      (void)backend.store.erase_blob(context_key(submission.job.str()));
      co_return *std::move(reply);
    }
  }
  if (!record) {
    auto late = co_await admitted(backend, submission.job);
    if (!late) co_return problem_of(late.error());
    if (!*late) co_return not_admitted(submission.job, submission.trace);
    record = *std::move(late);
  }
  // Two of one key at once: the later one finds the earlier one's job.
  if (submission.keyed() && record->trace != submission.trace) {
    co_return replay_of(backend, *record, std::move(submission));
  }
  co_return answer_of(*record);
}

}  // namespace

Task<Reply> submit(Backend& backend, Submission submission) {
  if (submission.keyed()) {
    Result<store::Loaded> first = co_await backend.store.load(submission.job, {});
    if (!first) co_return problem_of(first.error());
    if (first->record) co_return replay_of(backend, *first->record, std::move(submission));
  }
  if (auto refused = prepare(backend, submission)) {
    if (submission.keyed()) {
      if (auto first = co_await replay_of_holder(backend, submission)) co_return *std::move(first);
    }
    co_return *std::move(refused);
  }
  if (auto later = co_await throttle(backend, submission)) co_return *std::move(later);

  // Handed in before the context is put: embedded they leave in one commit. On a store that others
  // share the scheduler reads before it commits, and the context is there before the job.
  std::string packet = submission.keyed() ? submission.packet : std::move(submission.packet);
  auto admitted = std::make_shared<store::Snapshot>();
  auto publishing = hand_in(backend, std::move(packet), admitted);
  auto keeping = backend.store.put_blob(
      context_key(submission.job.str()),
      {std::move(submission.context), backend.clock.wall() + backend.context_ttl},
      submission.keyed() ? store::BlobCondition::kIfAbsent : store::BlobCondition::kAlways);
  Result<bus::Published> published = co_await std::move(publishing);
  Result<bool> kept = co_await std::move(keeping);
  if (!published) co_return problem_of(published.error());
  if (*published == bus::Published::kRefused) {
    // Under a key it may be the context of another who was taken.
    if (!submission.keyed()) (void)backend.store.erase_blob(context_key(submission.job.str()));
    // A full disk refuses both; a full queue takes the context.
    co_return kept ? queue_full() : problem_of(kept.error());
  }
  if (!kept) {
    (void)co_await backend.scheduler.cancel(submission.job, "its context could not be stored");
    co_return problem_of(kept.error());
  }
  if (*published == bus::Published::kUnknown) {
    co_return problem_of({ErrorCode::kUnknown, "the bus did not answer"});
  }
  co_return co_await answer_to(backend, std::move(submission), std::move(*admitted));
}

}  // namespace fairlead::http
