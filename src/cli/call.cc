#include "cli/call.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include <fmt/core.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/go_duration.h"
#include "base/text.h"
#include "cli/output.h"

namespace fairlead::cli {

namespace {

// Leaves room for sums with the time that it is now.
constexpr Duration kLongest = std::chrono::hours(24 * 365 * 100);
// A payload may be deep, and is shown within an answer.
constexpr size_t kAnswerDepthMax = 128;

// What would have made it work, where that is known.
std::string advice(const Dialect& dialect, const json::value& body) {
  const std::string code = text_at(body, "code");
  const std::string error = text_at(body, "error");
  if (code == "unknown_topic") {
    const std::string topic = error.substr(error.rfind(' ') + 1);
    return fmt::format("make it: {} topic create {} --pool default", dialect.program, topic);
  }
  if (code == "unauthorized") {
    return fmt::format("give a key: --api-key or {}",
                       dialect.cordumctl ? "CORDUM_API_KEY" : "FAIRLEAD_API_KEY");
  }
  if (const std::string required = text_at(body, "required"); !required.empty()) {
    return fmt::format("it takes the key of: {}; this one is of: {}", required,
                       text_at(body, "granted"));
  }
  return "";
}

}  // namespace

std::string Call::flag(const std::string& name, std::string otherwise) const {
  auto found = flags.find(name);
  return found == flags.end() ? std::move(otherwise) : found->second.back();
}

std::vector<std::string> Call::list(const std::string& name) const {
  std::vector<std::string> all;
  auto found = flags.find(name);
  if (found == flags.end()) return all;
  for (const std::string& value : found->second) {
    for (std::string_view part : split(value, ',')) {
      if (!trim(part).empty()) all.emplace_back(trim(part));
    }
  }
  return all;
}

int64_t Call::count(const std::string& name, int64_t otherwise) const {
  if (!has(name)) return otherwise;
  const std::string text = flag(name);
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) {
    throw Problem{kUsage, fmt::format("--{} is '{}', must be a number from 1 on", name, text)};
  }
  return value;
}

Duration Call::duration(const std::string& name, Duration otherwise) const {
  if (!has(name)) return otherwise;
  const std::string text = flag(name);
  const bool bare = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  auto time = parse_go_duration(bare ? text + "s" : text);
  if (!time || *time > kLongest) {
    throw Problem{kUsage,
                  fmt::format("--{} is '{}', must be a time: 500ms, 10s, 1m30s", name, text)};
  }
  return *time;
}

int Call::for_each_word(const std::function<json::value(const std::string& word)>& work) const {
  int exit_code = kDone;
  json::array answers;
  for (const std::string& word : words) {
    try {
      answers.push_back(work(word));
    } catch (const Problem& problem) {
      if (words.size() == 1) throw;
      std::fflush(stdout);
      fmt::print(stderr, "{}: {}: {}\n", dialect.program, word, printable(problem.message));
      exit_code = std::max(exit_code, problem.exit_code);
    }
  }
  if (output == Output::kJson) {
    fmt::print("{}", pretty(words.size() == 1 ? answers[0] : json::value(answers)));
  }
  return exit_code;
}

Answer Call::call(std::string_view method, const std::string& target,
                  const json::value& body) const {
  auto answer = client.call(method, target, body.is_null() ? "" : json::serialize(body));
  if (!answer) no_server(answer.error());
  return *std::move(answer);
}

json::array Call::ask_list(const std::string& target, bool every_page) const {
  json::array all;
  std::string cursor;
  do {
    const json::value page =
        ask("GET", target + (cursor.empty() ? "" : "&cursor=" + percent_encoded(cursor)));
    for (const json::value& item : items_of(page)) all.push_back(item);
    cursor = text_at(page, "next_cursor");
  } while (every_page && !cursor.empty());
  if (!cursor.empty()) fmt::print(stderr, "there are more: --all, or a larger --limit\n");
  return all;
}

json::value Call::ask(std::string_view method, const std::string& target,
                      const json::value& body) const {
  Answer answer = call(method, target, body);
  if (!answer.good()) refuse(answer);
  if (answer.body.empty()) return nullptr;
  boost::system::error_code error;
  // A job's result may hold any bytes, and is no reason to tell nothing of the job.
  json::parse_options any_bytes;
  any_bytes.allow_invalid_utf8 = true;
  any_bytes.max_depth = kAnswerDepthMax;
  json::value value = json::parse(answer.body, error, {}, any_bytes);
  if (error) {
    throw Problem{kFailed, fmt::format("what answers at {} is not the API of a server",
                                       client.endpoint().url)};
  }
  return value;
}

void Call::refuse(const Answer& answer) const {
  boost::system::error_code error;
  const json::value body = json::parse(answer.body, error);
  const std::string hint = error ? "" : advice(dialect, body);
  const bool denied = answer.status == 401 || answer.status == 403;
  if (dialect.cordumctl) {
    std::string message = fmt::format("unexpected status {}: {}", answer.status, trim(answer.body));
    if (!hint.empty()) message += " (" + hint + ")";
    throw Problem{kFailed, std::move(message), denied};
  }
  std::string message = error ? "" : text_at(body, "error");
  if (message.empty()) message = fmt::format("the server answers {}", answer.status);
  if (!hint.empty()) message += "; " + hint;
  throw Problem{denied ? kDenied : kFailed, std::move(message), denied};
}

void Call::no_server(const NoAnswer& none) const {
  throw Problem{none.why == NoAnswer::Why::kTooLate ? kTimedOut : kFailed,
                no_server_line(dialect, client.endpoint().url, none)};
}

std::string no_server_line(const Dialect& dialect, const std::string& url, const NoAnswer& none) {
  if (none.why != NoAnswer::Why::kNobody) return none.message;
  return fmt::format(
      "no server at {} ({}); start one: fairlead up, or name another: {}", url, none.message,
      dialect.cordumctl ? "--gateway URL or CORDUM_GATEWAY" : "--server URL or FAIRLEAD_API");
}

}  // namespace fairlead::cli
