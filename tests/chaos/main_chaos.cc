// chaos --minutes N [--seed S] …: a cluster under load while its processes are killed, stopped,
// restarted and cut off from each other; checks every promise, round by round.
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "tests/chaos/campaign.h"
#include "tests/chaos/worker_process.h"

namespace {

using Words = std::vector<std::string>;

int usage() {
  fmt::print(stderr,
             "usage: chaos --minutes N [--seed S] [--core] [--only LIST] [--rate N] [--timeout S]\n"
             "             [--proxies] [--planted BUG]\n"
             "  --core     without JetStream\n"
             "  --only     who may suffer: any of replicas,workers,nats,redis\n"
             "  --rate     jobs a second (60)\n"
             "  --timeout  seconds after which a job ends whose worker was lost with it (45)\n"
             "  --proxies  cut connections in proxies, not between network namespaces\n"
             "  --planted  put a known bug into every replica, to see that it is found\n");
  return 2;
}

bool read_number(const std::string& text, double& into) {
  char* end = nullptr;
  into = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == 0 && into > 0;
}

// chaos --workers NAME HOST PORT LEDGER jetstream|core: what a campaign starts.
[[noreturn]] void be_workers(const Words& words) {
  fairlead::chaos::run_workers({.nats = {words[2], static_cast<uint16_t>(std::stoi(words[3]))},
                                .name = words[1],
                                .ledger = words[4],
                                .jetstream = words[5] == "jetstream"});
}

}  // namespace

int main(int count, char** arguments) {
  Words words(arguments + 1, arguments + count);
  if (words.size() == 6 && words[0] == "--workers") be_workers(words);

  fairlead::chaos::CampaignOptions options{.minutes = 0};
  for (size_t i = 0; i < words.size(); ++i) {
    const bool more = i + 1 < words.size();
    double number = 0;
    if (words[i] == "--core") {
      options.jetstream = false;
    } else if (words[i] == "--proxies") {
      options.proxies = true;
    } else if (words[i] == "--only" && more) {
      options.only = words[++i];
    } else if (words[i] == "--planted" && more) {
      options.planted = words[++i];
    } else if (words[i] == "--minutes" && more && read_number(words[++i], number)) {
      options.minutes = number;
    } else if (words[i] == "--rate" && more && read_number(words[++i], number)) {
      options.jobs_a_second = number;
    } else if (words[i] == "--timeout" && more && read_number(words[++i], number)) {
      options.job_timeout_s = static_cast<int>(number);
    } else if (words[i] == "--seed" && more && read_number(words[++i], number)) {
      options.seed = static_cast<uint64_t>(number);
    } else {
      return usage();
    }
  }
  if (options.minutes == 0) return usage();
  return fairlead::chaos::run_campaign(options);
}
