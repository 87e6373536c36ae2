#include "tests/chaos/checker.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace fairlead::chaos {

namespace {

constexpr size_t kNamedAtMost = 5;
// Workers look for their server every second.
constexpr Micros kListeningAgain = 5'000'000;

double seconds(Micros micros) {
  return static_cast<double>(micros) / 1e6;
}

// Jobs with the same fault of ours are told in one line.
class Complaints {
 public:
  void add(const std::string& kind, const std::string& job) { jobs_[kind].push_back(job); }

  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const auto& [kind, jobs] : jobs_) {
      std::string line = fmt::format("{} {}:", jobs.size(), kind);
      for (size_t i = 0; i < std::min(jobs.size(), kNamedAtMost); ++i) line += " " + jobs[i];
      if (jobs.size() > kNamedAtMost) line += " …";
      lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  std::map<std::string, std::vector<std::string>> jobs_;
};

// All that is known of one job.
struct Life {
  const Submit* submit = nullptr;
  std::vector<const Delivery*> deliveries;
  std::vector<const StoredResult*> results;
};

class Judge {
 public:
  Judge(const Evidence& evidence, const Promises& promises)
      : evidence_(evidence), promises_(promises) {
    for (const Submit& submit : evidence.submits) lives_[submit.job].submit = &submit;
    for (const Delivery& each : evidence.deliveries) lives_[each.job].deliveries.push_back(&each);
    for (const StoredResult& each : evidence.results) lives_[each.job].results.push_back(&each);
    for (auto& [job, life] : lives_) {
      std::ranges::sort(life.deliveries, {}, &Delivery::at);
      std::ranges::sort(life.results, {}, &StoredResult::at);
    }
  }

  Judgement run() {
    check_keys();
    for (const auto& [job, life] : lives_) {
      check_deliveries(job, life);
      if (life.submit) check_end(job, life);
    }
    found_.violations = complaints_.lines();
    for (const std::string& leftover : evidence_.leftovers) {
      found_.violations.push_back("left over: " + leftover);
    }
    return std::move(found_);
  }

 private:
  void check_keys() {
    std::map<std::string, std::string> job_of;
    for (const Submit& submit : evidence_.submits) {
      if (submit.key.empty()) continue;
      const auto [known, fresh] = job_of.emplace(submit.key, submit.job);
      if (!fresh && known->second != submit.job) {
        complaints_.add("jobs for a key that had one", submit.job);
      }
    }
  }

  void check_deliveries(const std::string& job, const Life& life) {
    found_.deliveries += life.deliveries.size();
    std::set<uint64_t> epochs;
    for (const Delivery* delivery : life.deliveries) {
      if (!epochs.insert(delivery->epoch).second) {
        complaints_.add("epochs handed out twice",
                        fmt::format("{} epoch {}", job, delivery->epoch));
      }
    }
    if (epochs.size() < 2) return;
    ++found_.run_again;
    for (size_t i = 1; i < life.deliveries.size(); ++i) {
      if (faults_between(life.deliveries[i - 1]->at, life.deliveries[i]->at).empty()) {
        complaints_.add("run again without a fault", job);
      }
    }
  }

  void check_end(const std::string& job, const Life& life) {
    ++found_.jobs;
    const auto record = evidence_.records.find(job);
    if (record == evidence_.records.end() || record->second.state.empty()) {
      return complaints_.add("lost", job);
    }
    const auto& [state, updated, dispatched] = record->second;
    const bool ended = state == "SUCCEEDED" || state == "TIMEOUT" || state == "FAILED" ||
                       state == "DENIED" || state == "CANCELLED";
    const Micros end = ended ? updated : evidence_.judged;
    if (!ended) complaints_.add("stuck", fmt::format("{} ({})", job, state));
    if (state == "SUCCEEDED") ++found_.succeeded;
    if (state == "TIMEOUT") ++found_.timed_out;
    if (state == "SUCCEEDED" && life.deliveries.empty()) {
      complaints_.add("succeeded without a worker", job);
    }
    if (ended && state != "SUCCEEDED" && state != "TIMEOUT") {
      complaints_.add(fmt::format("ended as {}", state), job);
    }
    // Where the schedulers have to do something: hand it out, take its result.
    check_stall(job, "before it was handed out", life.submit->sent,
                dispatched.empty() ? end : dispatched.front());
    if (!life.results.empty() && promises_.results_are_kept) {
      check_stall(job, "with its result stored", life.results.front()->at, end);
    }
    const bool arrived = dispatched.empty() || check_arrival(job, life, dispatched.back());
    if (state == "TIMEOUT" && arrived && faults_between(life.submit->sent, end).empty()) {
      complaints_.add("timed out without a fault", job);
    }
  }

  // What was handed out last arrives, unless nobody listened. What was handed out before that may
  // have been refused by the bus. Returns whether it did.
  bool check_arrival(const std::string& job, const Life& life, Micros at) {
    if (!life.deliveries.empty() && life.deliveries.back()->at >= at) return true;
    const bool deaf = std::ranges::any_of(evidence_.faults, [&](const FaultSpan& fault) {
      return fault.deafens_workers && fault.from <= at && at < fault.to + kListeningAgain;
    });
    if (!deaf) {
      complaints_.add("handed out and never arrived", job);
    } else if (!was_published_in_vain(job, life)) {
      complaints_.add("said to be handed out and never published", job);
    } else {
      ++found_.sent_to_nobody;
    }
    return false;
  }

  // Whether the stream has a dispatch of it that no worker got; true where nobody knows.
  bool was_published_in_vain(const std::string& job, const Life& life) const {
    if (!evidence_.published) return true;
    auto epoch = evidence_.published->lower_bound({job, 0});
    for (; epoch != evidence_.published->end() && epoch->first == job; ++epoch) {
      const auto same = [&](const Delivery* each) { return each->epoch == epoch->second; };
      if (std::ranges::none_of(life.deliveries, same)) return true;
    }
    return false;
  }

  void check_stall(const std::string& job, const char* where, Micros from, Micros to) {
    if (to <= from) return;
    if (seconds(to - from) > found_.longest.seconds) {
      found_.longest = {seconds(to - from), job, where, faults_between(from, to)};
    }
    if (seconds(longest_calm(from, to)) > promises_.stall_seconds_max) {
      complaints_.add(fmt::format("stood still {}", where), job);
    }
  }

  // The longest stretch of a span in which nothing was wrong.
  Micros longest_calm(Micros from, Micros to) const {
    std::vector<const FaultSpan*> spans;
    for (const FaultSpan& fault : evidence_.faults) {
      if (fault.from < to && fault.to > from) spans.push_back(&fault);
    }
    std::ranges::sort(spans, {}, &FaultSpan::from);
    Micros longest = 0;
    Micros calm_since = from;
    for (const FaultSpan* span : spans) {
      longest = std::max(longest, span->from - calm_since);
      calm_since = std::max(calm_since, span->to);
    }
    return std::max(longest, to - calm_since);
  }

  std::string faults_between(Micros from, Micros to) const {
    std::string names;
    for (const FaultSpan& fault : evidence_.faults) {
      if (fault.from >= to || fault.to <= from) continue;
      names += fmt::format("{}{} for {:.1f} s", names.empty() ? "" : ", ", fault.what,
                           seconds(fault.to - fault.from));
    }
    return names;
  }

  const Evidence& evidence_;
  const Promises& promises_;
  std::map<std::string, Life> lives_;
  Complaints complaints_;
  Judgement found_;
};

}  // namespace

Judgement judge(const Evidence& evidence, const Promises& promises) {
  return Judge(evidence, promises).run();
}

}  // namespace fairlead::chaos
