#include "cli/job_calls.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include <boost/json/parse.hpp>

#include "base/text.h"

namespace fairlead::cli {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view kPriorities[] = {"interactive", "batch", "critical"};

std::string one_of(const Call& call, const char* flag, std::span<const std::string_view> words) {
  const std::string given = call.flag(flag);
  if (std::ranges::find(words, given) != words.end()) return given;
  throw Problem{kUsage,
                fmt::format("--{} is '{}', must be {}", flag, given, fmt::join(words, ", "))};
}

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
  } else if (std::ifstream file(given, std::ios::binary); file) {
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (!error) return value;
  const std::string_view begin = trim(given);
  const bool meant_as_file = text == given && (begin.empty() || !"{[\""sv.contains(begin[0]));
  throw Problem{kUsage, meant_as_file
                            ? fmt::format("--{} is neither JSON nor a file: {}", flag, given)
                            : fmt::format("--{} is no JSON: {}", flag, error.message())};
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
  if (call.has("priority")) body["priority"] = one_of(call, "priority", kPriorities);
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

}  // namespace fairlead::cli
