// One replica of a simulated world, in a process of its own.
#pragma once

#include <memory>
#include <string>

#include <fmt/core.h>

#include "sim/world.h"

namespace fairlead::sim {

class TraceLog final : public Log {
 public:
  TraceLog(const std::string& name, std::function<void(std::string)>& say)
      : name_(name), say_(say) {}
  void write(Level, std::string_view phrase, std::initializer_list<Field> fields) override {
    std::string line = name_ + ": " + std::string(phrase);
    for (const auto& [key, value] : fields) line += fmt::format(" {}={}", key, value);
    say_(std::move(line));
  }

 private:
  std::string name_;
  std::function<void(std::string)>& say_;
};

// Members end in reverse order: first the scheduler, last the process it ran in.
struct World::Replica {
  Replica(World& world, int index)
      : process(
            std::make_shared<Process>(world.loop_, fmt::format("replica-{}", index), Duration(0))),
        crash(
            [&world, index] { world.loop_.post_urgent([&world, index] { world.crash(index); }); }),
        log(process->name(), world.plugs_.trace),
        random(world.random_.next()),
        store(world.plugs_, world.store_, process, crash),
        bus(world.bus_, process, crash),
        gate(world.plugs_, world.policy_, process),
        scheduler({*process, *process, random, store, bus, gate, log},
                  settings(index, world.options_), world.pools_) {}

  static scheduler::Settings settings(int index, const Options& options) {
    scheduler::Settings settings;
    settings.instance = fmt::format("replica-{}", index);
    settings.timeouts = {.dispatch = options.dispatch_timeout, .running = std::chrono::seconds(60)};
    return settings;
  }

  Task<void> start() {
    while (true) {
      Result<void> started = co_await scheduler.start();
      if (started) co_return;
      if (!co_await process->delay(std::chrono::milliseconds(500))) co_return;
    }
  }

  std::shared_ptr<Process> process;
  std::function<void()> crash;
  TraceLog log;
  SeededRandom random;
  FaultyStore store;
  BusEndpoint bus;
  SimGate gate;
  scheduler::Scheduler scheduler;
  Nursery starting;
};

}  // namespace fairlead::sim
