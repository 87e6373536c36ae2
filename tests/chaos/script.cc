#include "tests/chaos/script.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"

namespace fairlead::chaos {

namespace {

using namespace std::chrono_literals;

constexpr size_t kAtATime = 3;

Millis drawn(Random& random, Millis low, Millis high) {
  return low + Millis(random.below(static_cast<uint64_t>((high - low).count()) + 1));
}

// Short ones are likelier than long ones: each doubling is as likely as the next.
Millis drawn_evenly_by_size(Random& random, Millis low, Millis high) {
  const double doublings =
      std::log2(static_cast<double>(high.count()) / static_cast<double>(low.count()));
  const double chosen = doublings * static_cast<double>(random.below(1000)) / 1000;
  return Millis(static_cast<int64_t>(static_cast<double>(low.count()) * std::exp2(chosen)));
}

const std::string& one_of(Random& random, const std::vector<std::string>& all) {
  return all[random.below(all.size())];
}

// The two servers are as likely as a replica or a worker each.
std::string draw_node(Random& random, const Cast& cast) {
  std::vector<std::string> kinds;
  if (!cast.replicas.empty()) kinds.insert(kinds.end(), 2, one_of(random, cast.replicas));
  if (!cast.workers.empty()) kinds.push_back(one_of(random, cast.workers));
  if (cast.nats) kinds.emplace_back(Cast::kNats);
  if (cast.redis) kinds.emplace_back(Cast::kRedis);
  check(!kinds.empty(), "something may happen to somebody");
  return one_of(random, kinds);
}

// Replicas talk to both servers, workers to NATS.
std::string far_end(Random& random, const Cast& cast, const std::string& node) {
  auto is_among = [&](const std::vector<std::string>& all) {
    return std::ranges::find(all, node) != all.end();
  };
  if (is_among(cast.workers)) return cast.nats ? Cast::kNats : "";
  if (!is_among(cast.replicas)) return "";
  std::vector<std::string> servers;
  if (cast.nats) servers.emplace_back(Cast::kNats);
  if (cast.redis) servers.emplace_back(Cast::kRedis);
  return servers.empty() ? "" : one_of(random, servers);
}

Fault draw_fault(Random& random, const Cast& cast) {
  Fault fault{.node = draw_node(random, cast)};
  switch (random.below(4)) {
    case 0:
      fault.kind = FaultKind::kStop;
      fault.lasts = drawn_evenly_by_size(random, 1s, 60s);
      return fault;
    case 1:
      fault.kind = FaultKind::kTerminate;
      fault.lasts = drawn(random, 500ms, 5s);
      return fault;
    case 2:
      fault.other = far_end(random, cast, fault.node);
      if (!fault.other.empty()) {
        fault.kind = FaultKind::kCut;
        fault.lasts = drawn_evenly_by_size(random, 1s, 30s);
        return fault;
      }
      [[fallthrough]];
    default:
      fault.kind = FaultKind::kKill;
      fault.lasts = drawn(random, 200ms, 8s);
      return fault;
  }
}

bool overlap(const Fault& a, const Fault& b) {
  return a.at < b.at + b.lasts && b.at < a.at + a.lasts;
}

}  // namespace

std::string Fault::text() const {
  switch (kind) {
    case FaultKind::kKill:
      return node + " killed";
    case FaultKind::kStop:
      return node + " stopped";
    case FaultKind::kTerminate:
      return node + " told to end";
    case FaultKind::kCut:
      return fmt::format("{} cut off from {}", node, other);
  }
  return node;
}

std::vector<Fault> draw_round(Random& random, const Cast& cast, Millis length) {
  std::vector<Fault> round;
  for (Millis at = drawn(random, 0ms, 1s); at < length; at += drawn(random, 300ms, 6s)) {
    Fault fault = draw_fault(random, cast);
    fault.at = at;
    const auto meanwhile = [&](const Fault& other) { return overlap(fault, other); };
    const auto at_the_same = [&](const Fault& other) {
      return meanwhile(other) && other.node == fault.node;
    };
    if (static_cast<size_t>(std::ranges::count_if(round, meanwhile)) < kAtATime &&
        std::ranges::none_of(round, at_the_same)) {
      round.push_back(std::move(fault));
    }
  }
  return round;
}

}  // namespace fairlead::chaos
