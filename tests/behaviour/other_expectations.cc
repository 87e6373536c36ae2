#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "tests/behaviour/step.h"

namespace fairlead::behaviour {

namespace {

using std::chrono::milliseconds;

// --- Workers -------------------------------------------------------------------------------------

std::string describe(const StoryWorker::Got& got) {
  std::vector<std::string> env;
  for (const auto& [name, value] : got.request.env()) env.push_back(name + "=" + value);
  std::ranges::sort(env);
  return fmt::format("{} epoch {} trace {} deadline {}ms env {}", got.request.job_id(),
                     got.request.dispatch().attempt(), got.trace,
                     got.request.budget().deadline_ms(), join(env, ","));
}

std::string describe(const StoryWorker& worker) {
  std::vector<std::string> all;
  for (const StoryWorker::Got& got : worker.got()) all.push_back(describe(got));
  return all.empty() ? "it got nothing" : "it got " + join(all, "; ");
}

template <class Map>
bool has_all(const Map& map, const std::map<std::string, std::string>& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& pair) {
    auto found = map.find(pair.first);
    return found != map.end() && found->second == pair.second;
  });
}

bool fits(const StoryWorker::Got& got, const Args& args) {
  const cap::JobRequest& request = got.request;
  if (request.job_id() != args.text("job")) return false;
  uint64_t epoch = request.dispatch().attempt();
  if (args.has("epoch") && epoch != static_cast<uint64_t>(args.number("epoch"))) return false;
  if (args.has("trace") && got.trace != args.text("trace")) return false;
  milliseconds deadline(request.budget().deadline_ms());
  if (args.has("deadline") && deadline != args.duration("deadline")) return false;
  return has_all(request.env(), args.pairs("env")) &&
         has_all(request.labels(), args.pairs("labels"));
}

Result<StoryWorker*> find_worker(World& world, const Args& args) {
  StoryWorker* worker = world.find_worker(args.text("worker"));
  if (!worker) return wrong(fmt::format("worker {} has not joined", args.text("worker")));
  return worker;
}

Result<void> expect_got(World& world, const Args& args) {
  auto worker = find_worker(world, args);
  if (!worker) return std::unexpected(worker.error());
  auto count =
      std::ranges::count_if((*worker)->got(), [&](const auto& got) { return fits(got, args); });
  if (args.has("n") ? count == args.number("n") : count > 0) return {};
  return wrong(fmt::format("expected that worker {} got such a job{}; {}", args.text("worker"),
                           args.has("n") ? " " + args.text("n") + " times" : "",
                           describe(**worker)));
}

Result<void> expect_got_nothing(World& world, const Args& args) {
  auto worker = find_worker(world, args);
  if (!worker) return std::unexpected(worker.error());
  bool got = std::ranges::any_of((*worker)->got(), [&](const StoryWorker::Got& one) {
    return !args.has("job") || one.request.job_id() == args.text("job");
  });
  if (!got) return {};
  return wrong(fmt::format("expected that worker {} got nothing of the kind; {}",
                           args.text("worker"), describe(**worker)));
}

Result<void> expect_told_to_cancel(World& world, const Args& args) {
  auto worker = find_worker(world, args);
  if (!worker) return std::unexpected(worker.error());
  if ((*worker)->told_to_cancel(args.text("job"))) return {};
  return wrong(fmt::format("expected that worker {} was told to cancel {}; it was not",
                           args.text("worker"), args.text("job")));
}

// --- Messages ------------------------------------------------------------------------------------

Result<void> expect_sent(World& world, const Args& args, bool only_taken, int64_t wanted) {
  int64_t count = 0;
  std::vector<std::string> there;
  for (const StoryBus::Sent& sent : world.bus.sent()) {
    if (sent.subject != args.text("subject")) continue;
    there.push_back(fmt::format(
        "{}{}{}{}", sent.job, sent.epoch ? fmt::format(" epoch {}", sent.epoch) : "",
        sent.error_code.empty() ? "" : " code " + sent.error_code + " enum " + sent.error_enum,
        sent.taken ? "" : " (not taken)"));
    if (only_taken && !sent.taken) continue;
    if (args.has("job") && sent.job != args.text("job")) continue;
    if (args.has("code") && sent.error_code != args.text("code")) continue;
    if (args.has("enum") && sent.error_enum != args.text("enum")) continue;
    ++count;
  }
  if (count == wanted) return {};
  return wrong(fmt::format("expected {} on {}, there were {}; all of that subject: {}", wanted,
                           args.text("subject"), count,
                           there.empty() ? "none" : join(there, ", ")));
}

std::function<Result<void>(World&, const Args&)> count_sent(bool only_taken,
                                                            std::optional<int64_t> wanted) {
  return [only_taken, wanted](World& world, const Args& args) {
    return expect_sent(world, args, only_taken, wanted ? *wanted : args.number("n"));
  };
}

Result<void> expect_submit_answer(World& world, const Args& args) {
  auto name = [](SubmitAnswer answer) {
    switch (answer) {
      case SubmitAnswer::kNone:
        return "unanswered";
      case SubmitAnswer::kStored:
        return "stored";
      case SubmitAnswer::kRefused:
        return "refused";
      case SubmitAnswer::kUnknown:
        return "unknown";
    }
    return "";
  };
  std::string there = name(world.submit_answer(args.text("job")));
  if (there == args.text("answer")) return {};
  return wrong(
      fmt::format("expected that the submit of {} is {} (stored, refused, unknown or "
                  "unanswered); it was {}",
                  args.text("job"), args.text("answer"), there));
}

// --- Metrics and log -----------------------------------------------------------------------------

// "name{label=value,…}", summed over the labels that are not named.
Result<void> expect_metric(World& world, const Args& args) {
  std::string_view text = args.text("metric");
  size_t brace = text.find('{');
  std::string_view name = text.substr(0, brace);
  Args labels;
  if (brace != std::string_view::npos) {
    if (!text.ends_with('}')) return wrong("a metric is name or name{label=value,label=value}");
    labels.set("all", std::string(text.substr(brace + 1, text.size() - brace - 2)));
  }
  for (size_t i = 0; i < scheduler::kCounters; ++i) {
    auto counter = static_cast<scheduler::Counter>(i);
    const auto& info = scheduler::Metrics::info(counter);
    if (info.name != name) continue;
    std::string values[2];
    for (const auto& [label, value] : labels.pairs("all")) {
      if (label != info.labels[0] && label != info.labels[1]) {
        return wrong(fmt::format("metric {} has no label {}", name, label));
      }
      values[label == info.labels[0] ? 0 : 1] = value;
    }
    auto there = static_cast<int64_t>(world.metrics().value(counter, values[0], values[1]));
    if (there == args.number("n")) return {};
    return wrong(fmt::format("expected {} {}, there was {}", text, args.number("n"), there));
  }
  return wrong(fmt::format("there is no counter {}", name));
}

Result<void> expect_log(World& world, const Args& args) {
  int64_t count = std::ranges::count_if(world.log.all(), [&](const StoryLog::Said& said) {
    if (!said.phrase.contains(args.text("phrase"))) return false;
    if (args.has("as an error") && said.level != Log::Level::kError) return false;
    if (!args.has("job")) return true;
    auto about = said.fields.find("job_id");
    return about != said.fields.end() && about->second == args.text("job");
  });
  bool enough = args.has("n") ? count == args.number("n") : count > 0;
  if (enough) return {};
  std::vector<std::string> all;
  for (const StoryLog::Said& said : world.log.all()) all.push_back(said.phrase);
  return wrong(fmt::format("expected the log to say \"{}\"{}, it said so {} times; it said: {}",
                           args.text("phrase"),
                           args.has("n") ? " " + args.text("n") + " times" : "", count,
                           all.empty() ? "nothing" : join(all, ", ")));
}

}  // namespace

void add_other_expectations(std::vector<Step>& steps) {
  auto add = [&](const char* pattern, auto run) {
    steps.push_back({Pattern(pattern), Step::Needs::kScheduler, run});
  };
  add("expect worker <worker> got job <job> [epoch <epoch:number>] [env <env:pairs>] "
      "[labels <labels:pairs>] [trace <trace>] [deadline <deadline:duration>] [<n:number> times]",
      expect_got);
  add("expect worker <worker> got nothing", expect_got_nothing);
  add("expect worker <worker> did not get job <job>", expect_got_nothing);
  add("expect worker <worker> was told to cancel <job>", expect_told_to_cancel);

  add("expect message on <subject> [for <job>] [code <code>] [enum <enum>]", count_sent(true, 1));
  add("expect no message on <subject> [for <job>]", count_sent(true, 0));
  add("expect <n:number> messages on <subject> [for <job>] [code <code>]",
      count_sent(true, std::nullopt));
  add("expect <n:number> publishes on <subject> [for <job>]", count_sent(false, std::nullopt));
  add("expect submit of <job> is <answer>", expect_submit_answer);

  add("expect metric <metric> <n:number>", expect_metric);
  add("expect log <phrase> [as an error] [<n:number> times] [about <job>]", expect_log);
}

}  // namespace fairlead::behaviour
