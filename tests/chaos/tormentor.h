// Makes the faults of a script happen to a cluster, and writes down when each was over.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tests/chaos/cluster.h"
#include "tests/chaos/evidence.h"
#include "tests/chaos/script.h"

namespace fairlead::chaos {

class Tormentor {
 public:
  explicit Tormentor(Cluster& cluster) : cluster_(cluster) {}

  void begin(std::vector<Fault> script);
  // To be called often: begins and ends what is due, and starts again what has ended by itself.
  void tick();
  // Ends all that goes on, whatever is left of it, and begins nothing more.
  void heal();
  // Whether nothing goes on, and everybody is up.
  bool is_calm() const { return going_on_.empty() && coming_back_.empty(); }

  // Faults that are over, and what should not have happened, since the last time.
  std::vector<FaultSpan> take_spans() { return std::exchange(spans_, {}); }
  std::vector<std::string> take_surprises() { return std::exchange(surprises_, {}); }

 private:
  using SteadyClock = std::chrono::steady_clock;

  struct Going {
    Fault fault;
    Micros from = 0;
    SteadyClock::time_point until{};
  };
  struct Coming {
    FaultSpan span;
    std::string node;
    SteadyClock::time_point start_at{};  // of one that has not been started yet
    bool started = false;
  };

  void inflict(Fault fault);
  void end(const Going& going);
  void bring_back(Coming coming);
  void tick_coming_back();
  void note_ended_by_themselves();
  FaultSpan span_of(const Fault& fault, Micros from) const;

  Cluster& cluster_;
  SteadyClock::time_point began_{};
  std::vector<Fault> script_;  // what is left of it, the next one last
  std::vector<Going> going_on_;
  std::vector<Coming> coming_back_;
  std::vector<FaultSpan> spans_;
  std::vector<std::string> surprises_;
};

}  // namespace fairlead::chaos
