#include "tests/chaos/campaign.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/check.h"
#include "runtime/random.h"
#include "tests/chaos/aftermath.h"
#include "tests/chaos/checker.h"
#include "tests/chaos/clients.h"
#include "tests/chaos/cluster.h"
#include "tests/chaos/tormentor.h"
#include "tests/chaos/worker_process.h"
#include "tests/load/reactor.h"

namespace fairlead::chaos {

namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kTick = 10ms;
constexpr auto kStartWithin = 30s;
// From the end of the last fault, and beyond the timeout of a job whose worker was lost with it.
constexpr auto kSettleWithin = 15s;
constexpr auto kRestWithin = 15s;
constexpr Millis kRoundMin = 20s;
constexpr Millis kRoundMax = 60s;

class Campaign {
 public:
  Campaign(const CampaignOptions& options, const std::string& folder)
      : options_(options),
        folder_(folder),
        random_(options.seed),
        network_(make_network()),
        cluster_(*network_, {.folder = folder,
                             .jetstream = options.jetstream,
                             .job_timeout_s = options.job_timeout_s,
                             .planted = options.planted}),
        tormentor_(cluster_),
        clients_(context_, {.apis = cluster_.apis(),
                            .nats = cluster_.nats(),
                            .over_bus = options.jetstream,
                            .a_second = options.jobs_a_second,
                            .api_key = Cluster::kApiKey}),
        aftermath_(cluster_.redis()),
        read_to_(cluster_.ledgers().size()) {}

  bool run() {
    fmt::print("chaos: {}, seed {}, {}, {}\n", options_.jetstream ? "JetStream" : "core NATS",
               options_.seed, network_->kind(), folder_);
    start();
    const auto until = SteadyClock::now() + minutes(options_.minutes);
    while (SteadyClock::now() < until && violations_ == 0) play_round(until);
    fmt::print(
        "chaos: {} rounds, {} faults, {} jobs acknowledged: {} succeeded, {} timed out with their "
        "workers; {} deliveries, {} jobs run again, {} sent to workers that did not listen; {} "
        "violations\n",
        round_, faults_, total_.jobs, total_.succeeded, total_.timed_out, total_.deliveries,
        total_.run_again, total_.sent_to_nobody, violations_);
    print_stall("chaos: longest stall", total_.longest);
    return violations_ == 0;
  }

 private:
  static SteadyClock::duration minutes(double count) {
    return std::chrono::duration_cast<SteadyClock::duration>(
        std::chrono::duration<double, std::ratio<60>>(count));
  }

  std::unique_ptr<Network> make_network() {
    auto namespaces = options_.proxies ? nullptr : make_namespaces();
    return namespaces ? std::move(namespaces) : make_proxies(context_);
  }

  void step() {
    context_.run_for(kTick);
    tormentor_.tick();
    clients_.tick();
  }

  template <class Reached>
  bool run_until(Reached reached, SteadyClock::duration patience) {
    const auto until = SteadyClock::now() + patience;
    while (!reached()) {
      if (SteadyClock::now() > until) return false;
      step();
    }
    return true;
  }

  void start() {
    cluster_.start_all();
    const Cast cast = cluster_.cast();
    std::vector<std::string> names = cast.replicas;
    names.insert(names.end(), {Cast::kNats, Cast::kRedis});
    const bool up = run_until(
        [&] {
          return std::ranges::all_of(names, [&](const auto& name) { return cluster_.is_up(name); });
        },
        kStartWithin);
    check(up, "the cluster starts");
    // Replicas that came before their servers have been started again.
    tormentor_.take_surprises();
    tormentor_.take_spans();
  }

  Cast cast() const {
    Cast cast = cluster_.cast();
    if (options_.only.empty()) return cast;
    auto suffers = [&](const char* who) { return options_.only.contains(who); };
    if (!suffers("replicas")) cast.replicas.clear();
    if (!suffers("workers")) cast.workers.clear();
    cast.nats = suffers("nats");
    cast.redis = suffers("redis");
    return cast;
  }

  void play_round(SteadyClock::time_point until) {
    ++round_;
    const auto left = std::chrono::duration_cast<Millis>(until - SteadyClock::now());
    const Millis drawn = kRoundMin + Millis(random_.below((kRoundMax - kRoundMin).count()));
    const Millis length = std::max<Millis>(5s, std::min(drawn, left));
    const std::vector<Fault> script = draw_round(random_, cast(), length);
    faults_ += script.size();
    clients_.submit(true);
    tormentor_.begin(script);
    run_until([] { return false; }, length);
    tormentor_.heal();
    clients_.submit(false);
    Evidence evidence;
    settle(evidence);
    tell(script, judge(evidence, {.results_are_kept = options_.jetstream}));
  }

  void settle(Evidence& evidence) {
    if (!run_until([&] { return tormentor_.is_calm(); }, kStartWithin)) {
      evidence.leftovers.emplace_back("not everybody came back");
    }
    const auto healed = SteadyClock::now();
    run_until([&] { return clients_.unanswered() == 0; }, kStartWithin);
    if (clients_.unanswered() > 0) {
      evidence.leftovers.push_back(fmt::format("{} submits unanswered", clients_.unanswered()));
    }
    evidence.submits = clients_.take_acknowledged();
    std::set<std::string> jobs;
    for (const Submit& submit : evidence.submits) jobs.insert(submit.job);
    std::set<std::string> open = jobs;
    const auto settled = healed + std::chrono::seconds(options_.job_timeout_s) + kSettleWithin;
    while (!open.empty() && SteadyClock::now() < settled) {
      aftermath_.drop_ended(open);
      run_until([] { return false; }, 200ms);
    }
    rest(evidence);
    for (size_t i = 0; i < read_to_.size(); ++i) {
      read_to_[i] = read_ledger(cluster_.ledgers()[i], read_to_[i], evidence);
    }
    note_repeats_of_earlier_rounds(evidence);
    evidence.records = aftermath_.records(jobs);
    if (options_.jetstream) {
      evidence.published = published_dispatches(context_, cluster_.nats(), published_from_);
    }
    evidence.faults = tormentor_.take_spans();
    evidence.judged = now_micros();
    for (std::string& each : tormentor_.take_surprises()) evidence.leftovers.push_back(each);
    for (std::string& each : clients_.take_surprises()) evidence.leftovers.push_back(each);
  }

  // What goes on beside the jobs comes to an end too.
  void rest(Evidence& evidence) {
    std::vector<std::string> left;
    const auto until = SteadyClock::now() + kRestWithin;
    do {
      left = aftermath_.leftovers();
      if (options_.jetstream) {
        for (std::string& each : stream_leftovers(context_, cluster_.nats())) left.push_back(each);
      }
      run_until([] { return false; }, 200ms);
    } while (!left.empty() && SteadyClock::now() < until);
    evidence.leftovers.insert(evidence.leftovers.end(), left.begin(), left.end());
  }

  void note_repeats_of_earlier_rounds(Evidence& evidence) {
    for (const Delivery& delivery : evidence.deliveries) {
      if (handed_out_.contains({delivery.job, delivery.epoch})) {
        evidence.leftovers.push_back(fmt::format(
            "epoch {} of {} was handed out in an earlier round", delivery.epoch, delivery.job));
      }
    }
    for (const Delivery& delivery : evidence.deliveries) {
      handed_out_.emplace(delivery.job, delivery.epoch);
    }
  }

  void tell(const std::vector<Fault>& script, const Judgement& judgement) {
    fmt::print("round {}: {} faults, {} jobs, {} timed out, {} run again, {} sent to nobody\n",
               round_, script.size(), judgement.jobs, judgement.timed_out, judgement.run_again,
               judgement.sent_to_nobody);
    print_stall("  longest stall", judgement.longest);
    if (!judgement.violations.empty()) {
      for (const Fault& fault : script) {
        fmt::print("  at {:.1f} s for {:.1f} s: {}\n", fault.at.count() / 1e3,
                   fault.lasts.count() / 1e3, fault.text());
      }
    }
    for (const std::string& violation : judgement.violations) {
      fmt::print("  VIOLATION: {}\n", violation);
    }
    std::fflush(stdout);
    violations_ += judgement.violations.size();
    total_.jobs += judgement.jobs;
    total_.succeeded += judgement.succeeded;
    total_.timed_out += judgement.timed_out;
    total_.deliveries += judgement.deliveries;
    total_.run_again += judgement.run_again;
    total_.sent_to_nobody += judgement.sent_to_nobody;
    if (judgement.longest.seconds > total_.longest.seconds) total_.longest = judgement.longest;
  }

  static void print_stall(const char* what, const Stall& stall) {
    fmt::print("{} {:.1f} s, {} {}: {}\n", what, stall.seconds, stall.job, stall.where,
               stall.faults.empty() ? "no fault" : stall.faults);
  }

  const CampaignOptions& options_;
  const std::string folder_;
  SeededRandom random_;
  load::Reactor context_;
  std::unique_ptr<Network> network_;
  Cluster cluster_;
  Tormentor tormentor_;
  Clients clients_;
  Aftermath aftermath_;
  std::vector<std::uintmax_t> read_to_;
  uint64_t published_from_ = 1;
  std::set<std::pair<std::string, uint64_t>> handed_out_;
  size_t round_ = 0;
  size_t faults_ = 0;
  size_t violations_ = 0;
  Judgement total_;
};

}  // namespace

int run_campaign(const CampaignOptions& options) {
  std::string folder = (std::filesystem::temp_directory_path() / "fairlead-chaos-XXXXXX").string();
  check(::mkdtemp(folder.data()) != nullptr, "a folder can be made");
  const bool well = Campaign(options, folder).run();
  if (!well) {
    fmt::print("chaos: FAILED; logs and ledgers are kept in {}; again: --seed {}\n", folder,
               options.seed);
    return 1;
  }
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace fairlead::chaos
