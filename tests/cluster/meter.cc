#include "tests/cluster/meter.h"

#include <fstream>
#include <sstream>

#include <unistd.h>

#include "base/check.h"
#include "tests/load/http_client.h"
#include "tests/load/nats_client.h"

namespace fairlead::cluster {

namespace {

// Lines as cmdstat_hset:calls=12,usec=…
std::map<std::string, uint64_t> calls_by_command(RedisServerProcess& redis) {
  constexpr std::string_view kBegin = "cmdstat_";
  constexpr std::string_view kCalls = ":calls=";
  std::istringstream lines(redis.text({"INFO", "commandstats"}));
  std::map<std::string, uint64_t> calls;
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(kCalls);
    if (at == line.npos || !line.starts_with(kBegin)) continue;
    calls[line.substr(kBegin.size(), at - kBegin.size())] =
        load::number_in(std::string_view(line).substr(at + kCalls.size()));
  }
  return calls;
}

}  // namespace

uint64_t commands_run(RedisServerProcess& redis) {
  uint64_t sum = 0;
  for (const auto& [command, calls] : calls_by_command(redis)) sum += command == "info" ? 0 : calls;
  return sum;
}

uint64_t calls_of(RedisServerProcess& redis, std::string_view command) {
  return calls_by_command(redis)[std::string(command)];
}

uint64_t memory_used(RedisServerProcess& redis) {
  constexpr std::string_view kUsed = "used_memory:";
  const std::string info = redis.text({"INFO", "memory"});
  return load::number_in(std::string_view(info).substr(info.find(kUsed) + kUsed.size()));
}

uint64_t stream_bytes(const NatsServerProcess& nats) {
  constexpr std::string_view kStorage = "\"storage\": ";
  const std::string told = load::get(nats.monitor_port(), "/jsz");
  const size_t at = told.find(kStorage);
  check(at != told.npos, "nats-server tells of its streams");
  return load::number_in(std::string_view(told).substr(at + kStorage.size()));
}

// The fields behind the name, which is in brackets and may hold anything.
double cpu_seconds(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  check(text.contains(')'), "the process is there");
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

RedisTap::RedisTap(load::asio::io_context& context, uint16_t redis)
    : wire_(std::make_shared<load::Wire>(context)) {
  check(wire_->connect(redis), "Redis can be listened to");
  wire_->start([this](std::string_view bytes) { return take(bytes); }, [] {});
  wire_->send("MONITOR\r\n");
}

// Lines as +1700000000.123456 [0 127.0.0.1:40404] "EVALSHA" …, and [0 lua] of what a script does.
size_t RedisTap::take(std::string_view bytes) {
  size_t taken = 0;
  while (true) {
    const size_t end = bytes.find("\r\n", taken);
    if (end == bytes.npos) return taken;
    const std::string_view line = bytes.substr(taken, end - taken);
    taken = end + 2;
    const std::string_view from = line.substr(0, line.find(']'));
    if (from.size() == line.size() || from.ends_with(" lua")) continue;
    ++calls_;
    last_ = line;
  }
}

}  // namespace fairlead::cluster
