// Rounds of faults under load, each followed by rest, in which every promise is checked.
#pragma once

#include <cstdint>
#include <string>

namespace fairlead::chaos {

struct CampaignOptions {
  double minutes = 1;
  uint64_t seed = 1;
  bool jetstream = true;
  bool proxies = false;   // not namespaces, even where they can be had
  std::string only{};     // what may suffer: replicas, workers, nats, redis; empty: all
  std::string planted{};  // a bug, to see that it is found
  double jobs_a_second = 60;
  int job_timeout_s = 45;  // after which a job ends whose worker was lost with it
};

// What went wrong: 0 when nothing did. Tells of every round as it goes.
int run_campaign(const CampaignOptions& options);

}  // namespace fairlead::chaos
