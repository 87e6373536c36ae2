#include "cli/job_calls.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>

#include <fmt/core.h>

#include <boost/json/parse.hpp>

#include "base/text.h"
#include "cli/output.h"

namespace fairlead::cli {

namespace {

// A stream that ends is opened again; this often in vain.
constexpr int kReopenMax = 60;

json::array strings(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

}  // namespace

std::string job_path(const std::string& job, std::string_view rest) {
  return "/api/v1/jobs/" + percent_encoded(job) + std::string(rest);
}

json::value read_json(const std::string& given, std::string_view flag) {
  std::string text = given;
  if (given == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else if (const std::string_view begin = trim(given);
             begin.empty() ||
             std::string_view("{[\"-0123456789tfn").find(begin[0]) == std::string_view::npos ||
             std::ifstream(given).good()) {
    std::ifstream file(given, std::ios::binary);
    if (!file) {
      throw Problem{kUsage, fmt::format("--{} is neither JSON nor a file: {}", flag, given)};
    }
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error) throw Problem{kUsage, fmt::format("--{} is no JSON: {}", flag, error.message())};
  return value;
}

json::object submit_body(const Call& call, const std::string& prompt) {
  json::object body;
  body["topic"] = call.flag("topic", "job.default");
  if (!prompt.empty()) body["prompt"] = prompt;
  if (call.has("input")) body["context"] = read_json(call.flag("input"), "input");
  auto text = [&](const char* flag, const char* field) {
    if (call.has(flag)) body[field] = call.flag(flag);
  };
  text("idempotency-key", "idempotency_key");
  text("capability", "capability");
  text("pack-id", "pack_id");
  text("org", "org_id");
  text("actor-id", "actor_id");
  text("actor-type", "actor_type");
  text("priority", "priority");
  if (call.has("risk-tags")) body["risk_tags"] = strings(call.list("risk-tags"));
  if (call.has("requires")) body["requires"] = strings(call.list("requires"));
  if (call.has("deadline")) {
    body["deadline_ms"] = call.duration("deadline", {}) / std::chrono::milliseconds(1);
  }
  json::object labels;
  if (call.has("labels")) {
    json::value given = read_json(call.flag("labels"), "labels");
    if (!given.is_object()) throw Problem{kUsage, "--labels must be a JSON object"};
    labels = std::move(given.get_object());
  }
  if (auto given = call.flags.find("label"); given != call.flags.end()) {
    for (const std::string& pair : given->second) {
      const size_t equals = pair.find('=');
      if (equals == pair.npos) {
        throw Problem{kUsage, fmt::format("--label is '{}', must be NAME=VALUE", pair)};
      }
      labels[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
  }
  if (!labels.empty()) body["labels"] = std::move(labels);
  return body;
}

bool is_over(std::string_view state) {
  static const std::set<std::string_view> over{"SUCCEEDED", "FAILED", "CANCELLED",
                                               "TIMEOUT",   "DENIED", "OUTPUT_QUARANTINED"};
  return over.contains(state);
}

int exit_code_of(std::string_view state) {
  if (state == "SUCCEEDED") return kDone;
  if (state == "DENIED") return kDenied;
  if (state == "TIMEOUT") return kTimedOut;
  return kFailed;
}

std::string follow(const Call& call, const std::string& job, Duration at_most,
                   const std::function<void(const Event&)>& show) {
  std::string state, last_event;
  const MonotonicTime end = call.clock.monotonic() + at_most;
  int in_vain = 0;
  auto take = [&](const Event& event) {
    in_vain = 0;
    last_event = event.id;
    boost::system::error_code error;
    const json::value data = json::parse(event.data, error);
    if (!error && event.name == "job.status_changed") state = text_at(data, "state");
    show(event);
    return !is_over(state);
  };
  while (!is_over(state)) {
    const Duration left = at_most > Duration::zero() ? end - call.clock.monotonic() : Duration();
    if (at_most > Duration::zero() && left <= Duration::zero()) {
      throw Problem{kTimedOut, fmt::format("job {} is still {} after {}", job,
                                           state.empty() ? "unknown" : state, short_time(at_most))};
    }
    auto answer = call.client.stream(job_path(job, "/stream"), last_event, left, take);
    if (answer && !answer->good()) call.refuse(*answer);
    if (!answer && answer.error().code == ErrorCode::kCancelled) continue;
    if (is_over(state)) break;
    // The server may be restarting.
    if (++in_vain > kReopenMax || (!answer && last_event.empty())) {
      call.no_server(answer ? Error{ErrorCode::kUnavailable, "the stream ended"} : answer.error());
    }
    call.client.pause(std::chrono::milliseconds(250));
  }
  return state;
}

int show_result(const Call& call, const std::string& job) {
  const json::value found = call.ask("GET", job_path(job));
  const json::value& result = member(found, "result");
  if (result.is_string()) {
    const std::string_view text = result.get_string();
    fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
  } else if (!result.is_null()) {
    fmt::print("{}", pretty(result));
  } else if (const std::string message = text_at(found, "error_message"); !message.empty()) {
    fmt::print(stderr, "{}\n", message);
  } else {
    fmt::print("{}", pretty(found));
  }
  return kDone;
}

}  // namespace fairlead::cli
