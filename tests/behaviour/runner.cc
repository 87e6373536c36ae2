#include "tests/behaviour/runner.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tests/behaviour/step.h"

namespace fairlead::behaviour {

namespace {

struct Understood {
  const Line* line = nullptr;
  const Step* step = nullptr;
  Args args;
};

std::string hint_for(const std::vector<std::pair<size_t, const Step*>>& reached, size_t best) {
  std::string hint;
  for (const auto& [words, step] : reached) {
    if (words != best) continue;
    hint += "\n    " + step->pattern.text();
  }
  return hint;
}

Result<Understood> understand(const Line& line) {
  auto words = words_of(line.text);
  if (!words) return std::unexpected(words.error());
  size_t best = 0;
  std::string problem;
  std::vector<std::pair<size_t, const Step*>> reached;
  for (const Step& step : all_steps()) {
    Pattern::Match match = step.pattern.match(*words);
    if (match.whole) return Understood{&line, &step, std::move(match.args)};
    reached.emplace_back(match.reached, &step);
    if (match.reached > best || (match.reached == best && problem.empty())) {
      problem = match.problem;
    }
    best = std::max(best, match.reached);
  }
  if (best == 0) return wrong("no line begins so; README.md lists those there are");
  if (problem.empty()) problem = "this line is not understood";
  return wrong(problem + "; lines that begin like it:" + hint_for(reached, best));
}

Result<void> run(World& world, const Understood& understood) {
  const Step& step = *understood.step;
  if (step.needs != Step::Needs::kNothing && !world.ever_started()) {
    if (auto started = world.start(); !started) return started;
  }
  if (step.needs == Step::Needs::kScheduler && !world.up()) {
    return wrong("the scheduler is down; say \"the scheduler restarts\" before this");
  }
  return step.run(world, understood.args);
}

Result<void> check_end(const World& world) {
  std::set<std::pair<std::string, uint64_t>> handed_out;
  for (const StoryBus::Sent& sent : world.bus.sent()) {
    if (sent.epoch == 0 || !sent.taken) continue;
    if (handed_out.emplace(sent.job, sent.epoch).second) continue;
    return wrong(
        fmt::format("at the end: epoch {} of job {} was handed out twice", sent.epoch, sent.job));
  }
  if (world.bus.orders_left() + world.store.orders_left() > 0) {
    return wrong("at the end: a fault that the story ordered never struck");
  }
  return {};
}

}  // namespace

const std::vector<Step>& all_steps() {
  static const std::vector<Step> kSteps = [] {
    std::vector<Step> steps;
    add_given_steps(steps);
    add_worker_steps(steps);
    add_client_steps(steps);
    add_fault_steps(steps);
    add_job_expectations(steps);
    add_other_expectations(steps);
    return steps;
  }();
  return kSteps;
}

std::optional<Failure> run_story(const Story& story, Mode mode) {
  auto failure = [&](const Line& line, const Error& error) {
    return Failure{story.file, line.number, fmt::format("{}\n  {}", line.text, error.message)};
  };
  std::vector<Understood> lines;
  for (const Line& line : story.lines) {
    auto understood = understand(line);
    if (!understood) return failure(line, understood.error());
    lines.push_back(*std::move(understood));
  }
  World world(mode);
  for (const Understood& line : lines) {
    if (auto done = run(world, line); !done) return failure(*line.line, done.error());
  }
  if (auto ended = check_end(world); !ended) return failure(story.lines.back(), ended.error());
  return std::nullopt;
}

}  // namespace fairlead::behaviour
