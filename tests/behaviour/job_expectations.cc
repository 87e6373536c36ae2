#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "job/backoff.h"
#include "tests/behaviour/step.h"

namespace fairlead::behaviour {

namespace {

// A waiting job has made the attempts of its schedule; they are written with its next commit.
uint32_t attempts_now(const World& world, const job::Record& record) {
  if (!record.wait || record.wait->wait_class.empty()) return record.attempts;
  if (!job::makes_attempts(*record.wait)) return record.attempts;
  return job::attempts_after(record.attempts, world.clock.wall() - record.wait->since);
}

std::string describe(const World& world, const job::Record& record) {
  std::string text = fmt::format("job {} {}", record.id.str(), job::to_string(record.state));
  if (!record.assignee.empty()) text += " on " + record.assignee.str();
  text += fmt::format(" epoch {} attempts {} deliveries {}", record.epoch.value(),
                      attempts_now(world, record), record.deliveries);
  if (record.wait) {
    text += fmt::format(" waiting for {} saying \"{}\"", job::to_string(record.wait->reason),
                        record.wait->detail);
  }
  if (!record.error_code.empty()) text += " code " + record.error_code;
  if (!record.error_message.empty()) text += " saying \"" + record.error_message + "\"";
  if (!record.result_ptr.empty()) text += " result " + record.result_ptr;
  return text + " trace " + record.trace.str();
}

Result<job::Record> find(World& world, const std::string& job) {
  auto record = world.record(job);
  if (!record) return std::unexpected(record.error());
  if (!*record) return wrong(fmt::format("expected a job {}, there was none", job));
  return **std::move(record);
}

// Compares what a line asks for with what is there, and keeps the first difference.
class Comparison {
 public:
  explicit Comparison(const Args& args) : args_(args) {}

  void equal(std::string_view name, std::string_view there) {
    if (args_.has(name) && args_.text(name) != there) differs(name, there);
  }
  void equal(std::string_view name, uint64_t there) { equal(name, std::to_string(there)); }
  void contains(std::string_view name, std::string_view there) {
    if (args_.has(name) && !there.contains(args_.text(name))) differs(name, there);
  }

  Result<void> verdict(std::string_view there) const {
    if (problem_.empty()) return {};
    return wrong(fmt::format("{}; there was: {}", problem_, there));
  }

 private:
  void differs(std::string_view name, std::string_view there) {
    if (!problem_.empty()) return;
    problem_ = fmt::format("expected {} {}, not \"{}\"", name, args_.text(name), there);
  }

  const Args& args_;
  std::string problem_;
};

Result<void> expect_job(World& world, const Args& args) {
  auto record = find(world, args.text("job"));
  if (!record) return std::unexpected(record.error());
  Comparison compare(args);
  compare.equal("state", job::to_string(record->state));
  compare.equal("worker", record->assignee.str());
  compare.equal("epoch", record->epoch.value());
  compare.equal("attempts", attempts_now(world, *record));
  compare.equal("deliveries", record->deliveries);
  compare.equal("waiting", record->wait ? job::to_string(record->wait->reason) : "nothing");
  compare.equal("code", record->error_code);
  compare.contains("text", record->wait ? record->wait->detail : record->error_message);
  compare.equal("result", record->result_ptr);
  compare.equal("trace", record->trace.str());
  return compare.verdict(describe(world, *record));
}

Result<void> expect_no_job(World& world, const Args& args) {
  auto record = world.record(args.text("job"));
  if (!record) return std::unexpected(record.error());
  if (!*record) return {};
  return wrong(fmt::format("expected no job {0}, there was: {1}", args.text("job"),
                           describe(world, **record)));
}

// An event is STATE or STATE(note); a note that is not asked for is not compared.
bool same_event(std::string_view wanted, const job::Event& event) {
  size_t note = wanted.find('(');
  if (wanted.substr(0, note) != job::to_string(event.state)) return false;
  return note == std::string_view::npos || wanted.substr(note) == "(" + event.note + ")";
}

Result<void> expect_history(World& world, const Args& args) {
  auto record = find(world, args.text("job"));
  if (!record) return std::unexpected(record.error());
  std::vector<std::string> wanted = args.rest("events");
  if (std::ranges::equal(wanted, record->history, same_event)) return {};
  std::vector<std::string> there;
  for (const job::Event& event : record->history) {
    std::string note = event.note.empty() ? "" : "(" + event.note + ")";
    there.push_back(job::to_string(event.state) + note);
  }
  return wrong(
      fmt::format("expected the history {}; there was: {}", join(wanted, " "), join(there, " ")));
}

Result<void> expect_dead_letter(World& world, const Args& args) {
  auto entry = world.dead_letter(args.text("job"));
  if (!entry) return std::unexpected(entry.error());
  if (!*entry) return wrong(fmt::format("expected a dead letter of {}", args.text("job")));
  const store::DeadLetter& letter = **entry;
  Comparison compare(args);
  compare.equal("code", letter.reason_code);
  compare.equal("status", std::string_view(letter.status).substr(sizeof("JOB_STATUS_") - 1));
  compare.contains("text", letter.reason);
  compare.equal("attempts", letter.attempts);
  compare.equal("state", letter.last_state);
  compare.equal("topic", letter.topic.str());
  return compare.verdict(fmt::format("code {} status {} saying \"{}\" attempts {} last state {}",
                                     letter.reason_code, letter.status, letter.reason,
                                     letter.attempts, letter.last_state));
}

Result<void> expect_no_dead_letter(World& world, const Args& args) {
  auto entry = world.dead_letter(args.text("job"));
  if (!entry) return std::unexpected(entry.error());
  if (!*entry) return {};
  return wrong(fmt::format("expected no dead letter of {}, there was one: {} \"{}\"",
                           args.text("job"), (*entry)->reason_code, (*entry)->reason));
}

}  // namespace

void add_job_expectations(std::vector<Step>& steps) {
  auto add = [&](const char* pattern, auto run) {
    steps.push_back({Pattern(pattern), Step::Needs::kScheduler, run});
  };
  add("expect job <job> <state:state> [on <worker>] [epoch <epoch:number>] "
      "[attempts <attempts:number>] [deliveries <deliveries:number>] [waiting for <waiting>] "
      "[code <code>] [saying <text>] [result <result>] [trace <trace>]",
      expect_job);
  add("expect no job <job>", expect_no_job);
  add("expect history of <job> is <events:rest>", expect_history);
  add("expect dead letter of <job> [code <code>] [status <status>] [saying <text>] "
      "[attempts <attempts:number>] [last state <state>] [topic <topic>]",
      expect_dead_letter);
  add("expect no dead letter of <job>", expect_no_dead_letter);
}

}  // namespace fairlead::behaviour
