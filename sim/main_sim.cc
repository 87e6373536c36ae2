// sim: runs simulated worlds and reports what they did.

#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "base/planted.h"
#include "sim/campaign.h"

namespace {

constexpr const char* kHelp = R"(sim: the whole scheduler in simulated worlds

  sim --seed N              replay one run and print its trace
  sim --runs N [--from S]   run N seeds beginning with S (default 1)
  sim --planted             run each planted bug until a checker catches it

Exits with 1 when a run violates a promise, and with 2 when it is called wrongly.
)";

int wrong(const std::string& what) {
  fmt::print(stderr, "sim: {}\n\n{}", what, kHelp);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<uint64_t> seed, runs, from;
  bool planted = false;
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i];
    if (flag == "--help" || flag == "-h") {
      fmt::print("{}", kHelp);
      return 0;
    }
    if (flag == "--planted") {
      planted = true;
      continue;
    }
    if (flag != "--seed" && flag != "--runs" && flag != "--from") {
      return wrong("unknown option " + flag);
    }
    if (i + 1 == argc) return wrong(flag + " needs a number");
    const char* text = argv[++i];
    uint64_t number = 0;
    auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
    if (error != std::errc() || *end != 0) return wrong(flag + " needs a number, not " + text);
    if (flag == "--seed") seed = number;
    if (flag == "--runs") runs = number;
    if (flag == "--from") from = number;
  }
  if (planted + seed.has_value() + runs.has_value() != 1) {
    return wrong("say one of --seed, --runs and --planted");
  }
  if (from && !runs) return wrong("--from goes with --runs");
  if (planted) return fairlead::sim::run_planted();
  if (seed) return fairlead::sim::replay(*seed);
  return fairlead::sim::run_campaign(from.value_or(1), *runs);
}
