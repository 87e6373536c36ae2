// For tests: buses on a real server.
#pragma once

#include <memory>
#include <string>

#include <fmt/format.h>

#include <boost/json.hpp>

#include "bus/nats/nats_bus.h"
#include "bus/nats/real_loop_fixture.h"
#include "tests/cluster/nats_server_process.h"

namespace fairlead::bus::nats {

// What a bus said, for tests that look at it.
class NotedLog final : public Log {
 public:
  void write(Level, std::string_view phrase, std::initializer_list<Field> fields) override {
    std::string line(phrase);
    for (const Field& field : fields) line += fmt::format(" {}={}", field.first, field.second);
    lines.push_back(std::move(line));
  }
  bool has(std::string_view text) const {
    for (const std::string& line : lines) {
      if (line.find(text) != std::string::npos) return true;
    }
    return false;
  }
  std::vector<std::string> lines;
};

// A process with a bus, as far as the server can tell.
struct Process {
  Process(RealLoop& on, Settings given)
      : loop(on), settings(std::move(given)), bus(std::in_place, plugs(), settings) {}

  NatsBus::Plugs plugs() { return {loop.loop(), clock, random, log}; }
  Result<void> start() { return loop.wait(bus->start()); }
  Result<void> bind(std::string_view subject, std::string_view queue = kSchedulerQueue) {
    return loop.wait(bus->bind(std::string(subject), std::string(queue)));
  }
  RealLoop& loop;
  Settings settings;
  SystemClock clock;
  SystemRandom random;
  NotedLog log;
  std::optional<NatsBus> bus;
};

inline Settings with_jetstream(const cluster::NatsServerProcess& server) {
  Settings settings;
  settings.servers = {server.url()};
  settings.jetstream = true;
  return settings;
}

}  // namespace fairlead::bus::nats
