#include "cli/bulk.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include <fmt/core.h>
#include <unistd.h>

#include "cli/output.h"

namespace fairlead::cli {

namespace {

// In one call: far less work than a call has patience for.
constexpr int64_t kBatch = 100;
// More than a server does in one call.
constexpr int64_t kCallMax = 1000;

const json::array& list_at(const json::value& answer, const char* name) {
  return items_of(member(answer, name));
}

// What all batches came to.
class Outcome {
 public:
  explicit Outcome(const char* done_field) : done_field_(done_field) {}

  // False: it brought nothing that was not there before.
  bool add(const json::value& answer) {
    const size_t before = matched_.size();
    std::map<std::string, json::value> failed;
    for (const json::value& one : list_at(answer, "failed")) failed[text_at(one, "job_id")] = one;
    for (const json::value& id : list_at(answer, "job_ids")) {
      const std::string job(id.as_string());
      if (known_.insert(job).second) matched_.push_back(id);
      failed_.erase(job);
    }
    failed_.merge(failed);
    const json::value& done = member(answer, done_field_);
    if (done.is_array()) {
      done_list_.insert(done_list_.end(), done.get_array().begin(), done.get_array().end());
    }
    done_count_ += done.is_array() ? done.get_array().size()
                                   : static_cast<size_t>(number_at(answer, done_field_));
    counts_ = !done.is_array();
    dry_run_ = text_at(answer, "dry_run") == "true";
    more_ = text_at(answer, "more") == "true";
    return matched_.size() > before;
  }

  bool empty() const { return matched_.empty(); }
  bool more() const { return more_; }
  size_t done() const { return done_count_; }
  int64_t failed() const { return static_cast<int64_t>(failed_.size()); }
  // Those that no later batch can meet again.
  int64_t settled() const { return static_cast<int64_t>(matched_.size()) - failed(); }
  const json::array& matched() const { return matched_; }

  json::value told() const {
    json::array failed;
    for (const auto& [job, one] : failed_) failed.push_back(one);
    return json::object{{"dry_run", dry_run_},
                        {"matched", matched_.size()},
                        {"job_ids", matched_},
                        {done_field_, counts_ ? json::value(done_count_) : json::value(done_list_)},
                        {"failed", std::move(failed)},
                        {"more", more_}};
  }

 private:
  const char* done_field_;
  std::set<std::string> known_;
  json::array matched_;
  json::array done_list_;
  size_t done_count_ = 0;
  bool counts_ = false;  // the answer has no list of what was done
  std::map<std::string, json::value> failed_;
  bool dry_run_ = false;
  bool more_ = false;
};

void show(const Call& call, const Outcome& outcome, const BulkWork& work, int64_t max) {
  if (call.output == Output::kJson) {
    fmt::print("{}", pretty(outcome.told()));
  } else if (call.output == Output::kId || call.has("dry-run")) {
    for (const json::value& job : outcome.matched()) {
      fmt::print("{}\n", std::string_view(job.as_string()));
    }
  } else {
    fmt::print("{} of {} {}\n", outcome.done(), outcome.matched().size(), work.done_word);
  }
  std::fflush(stdout);
  if (!outcome.more()) return;
  const bool enough = outcome.settled() >= max;
  fmt::print(stderr, "there are more{}\n",
             enough ? ": give a larger --max" : " that were not reached");
}

// The failed ones are chosen again with every batch, so there is room for them: whatever lies
// behind them is reached.
int64_t next_batch(const Outcome& outcome, int64_t max) {
  return std::min({kBatch + outcome.failed(), max - outcome.settled(), kCallMax});
}

// For one who looks: a line that is written over, and goes in the end.
class ProgressLine {
 public:
  ~ProgressLine() {
    if (seen_) fmt::print(stderr, "\r\x1b[K");
  }
  void show(const Outcome& outcome, const char* done_word) const {
    if (seen_) fmt::print(stderr, "\r\x1b[K{} {} so far", outcome.done(), done_word);
  }

 private:
  const bool seen_ = ::isatty(STDERR_FILENO) == 1;
};

void work_off(const Call& call, BulkWork& work, int64_t max, Outcome& outcome) {
  const ProgressLine line;
  bool goes_on = true;
  while (goes_on) {
    line.show(outcome, work.done_word);
    work.body["max"] = next_batch(outcome, max);
    const bool any_new = outcome.add(call.ask("POST", work.target, work.body));
    goes_on = any_new && outcome.more() && outcome.settled() < max;
  }
}

}  // namespace

int run_bulk(const Call& call, BulkWork work) {
  const int64_t max = call.count("max", kBatch);
  work.body["dry_run"] = call.has("dry-run");
  Outcome outcome(work.done_field);
  if (call.has("dry-run")) {
    work.body["max"] = std::min(max, kCallMax);
    outcome.add(call.ask("POST", work.target, work.body));
    show(call, outcome, work, max);
    return kDone;
  }
  try {
    work_off(call, work, max, outcome);
  } catch (const Problem&) {
    if (!outcome.empty()) show(call, outcome, work, max);
    throw;
  }
  show(call, outcome, work, max);
  return outcome.failed() > 0 ? kFailed : kDone;
}

}  // namespace fairlead::cli
