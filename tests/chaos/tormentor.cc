#include "tests/chaos/tormentor.h"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

namespace fairlead::chaos {

namespace {

using namespace std::chrono_literals;

// A replica that is told to end may take ten seconds for it.
constexpr auto kEndsWithin = 20s;
// As a service manager would.
constexpr auto kStartsAgainAfter = 1s;

}  // namespace

void Tormentor::begin(std::vector<Fault> script) {
  began_ = SteadyClock::now();
  script_ = std::move(script);
  std::ranges::reverse(script_);
}

void Tormentor::tick() {
  const auto now = SteadyClock::now();
  while (!script_.empty() && now - began_ >= script_.back().at) {
    Fault fault = std::move(script_.back());
    script_.pop_back();
    inflict(std::move(fault));
  }
  for (size_t i = 0; i < going_on_.size();) {
    if (now < going_on_[i].until) {
      ++i;
      continue;
    }
    const Going going = going_on_[i];
    going_on_.erase(going_on_.begin() + static_cast<std::ptrdiff_t>(i));
    end(going);
  }
  note_ended_by_themselves();
  tick_coming_back();
}

void Tormentor::heal() {
  script_.clear();
  for (const Going& going : std::exchange(going_on_, {})) end(going);
}

void Tormentor::inflict(Fault fault) {
  // One that is still on its way back from the last has enough.
  const auto same = [&](const Coming& coming) { return coming.node == fault.node; };
  if (std::ranges::any_of(coming_back_, same)) return;
  Node& node = cluster_.node(fault.node);
  switch (fault.kind) {
    case FaultKind::kKill:
      node.kill();
      break;
    case FaultKind::kStop:
      node.signal(SIGSTOP);
      break;
    case FaultKind::kTerminate:
      node.signal(SIGTERM);
      break;
    case FaultKind::kCut:
      cluster_.network().cut(fault.node, fault.other);
      break;
  }
  const auto until = SteadyClock::now() + fault.lasts;
  going_on_.push_back({std::move(fault), now_micros(), until});
}

FaultSpan Tormentor::span_of(const Fault& fault, Micros from) const {
  const bool deafens = cluster_.is_worker(fault.node) || fault.node == Cast::kNats;
  return {fault.text(), from, now_micros(), deafens};
}

void Tormentor::end(const Going& going) {
  switch (going.fault.kind) {
    case FaultKind::kStop:
      cluster_.node(going.fault.node).signal(SIGCONT);
      spans_.push_back(span_of(going.fault, going.from));
      return;
    case FaultKind::kCut:
      cluster_.network().mend(going.fault.node, going.fault.other);
      spans_.push_back(span_of(going.fault, going.from));
      return;
    case FaultKind::kKill:
    case FaultKind::kTerminate:
      bring_back({span_of(going.fault, going.from), going.fault.node, SteadyClock::now()});
      return;
  }
}

void Tormentor::bring_back(Coming coming) {
  coming_back_.push_back(std::move(coming));
}

void Tormentor::tick_coming_back() {
  const auto now = SteadyClock::now();
  for (size_t i = 0; i < coming_back_.size();) {
    Coming& coming = coming_back_[i];
    Node& node = cluster_.node(coming.node);
    if (!coming.started && now >= coming.start_at) {
      if (!node.runs()) {
        node.start();
        coming.started = true;
      } else if (now >= coming.start_at + kEndsWithin) {
        surprises_.push_back(fmt::format("{} was told to end and did not", coming.node));
        node.kill();
      }
    }
    if (coming.started && cluster_.is_up(coming.node)) {
      coming.span.to = now_micros();
      spans_.push_back(std::move(coming.span));
      coming_back_.erase(coming_back_.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    // It may end at once, for want of a server: then it is started again.
    if (coming.started && !node.runs()) {
      coming.started = false;
      coming.start_at = now + kStartsAgainAfter;
    }
    ++i;
  }
}

// Nobody asked it to.
void Tormentor::note_ended_by_themselves() {
  for (Node* node : cluster_.nodes()) {
    const auto& name = node->name();
    const bool awaited =
        std::ranges::any_of(coming_back_, [&](const Coming& each) { return each.node == name; }) ||
        std::ranges::any_of(going_on_, [&](const Going& each) {
          return each.fault.node == name &&
                 (each.fault.kind == FaultKind::kKill || each.fault.kind == FaultKind::kTerminate);
        });
    if (awaited || node->runs()) continue;
    surprises_.push_back(name + " ended by itself: " + node->log());
    bring_back({{name + " ended by itself", now_micros(), 0, cluster_.is_worker(name)},
                name,
                SteadyClock::now() + kStartsAgainAfter});
  }
}

}  // namespace fairlead::chaos
