#include "worker/machine_load.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace fairlead::worker {

namespace {

struct CpuLine {
  uint64_t all = 0;
  uint64_t idle = 0;
};

// "cpu user nice system idle iowait irq softirq steal …", in ticks of all processors.
CpuLine read_cpu_line() {
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  CpuLine line;
  uint64_t ticks = 0;
  for (int field = 0; field < 8 && file >> ticks; ++field) {
    line.all += ticks;
    if (field == 3 || field == 4) line.idle += ticks;
  }
  return line;
}

uint64_t ticks_of(const rusage& usage) {
  const auto per_second = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  auto micros = [](const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000 + static_cast<uint64_t>(time.tv_usec);
  };
  return (micros(usage.ru_utime) + micros(usage.ru_stime)) * per_second / 1'000'000;
}

// What one process used, it and those of its children that ended, if it is of one of the groups.
uint64_t ticks_of(const std::string& stat_file, const std::vector<pid_t>& groups) {
  std::ifstream file(stat_file);
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');
  if (name_end == text.npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  // Fields 3 to 17: state, parent, group, and nine others before the four times.
  std::string state, skipped;
  pid_t parent = 0, group = 0;
  fields >> state >> parent >> group;
  if (std::ranges::find(groups, group) == groups.end()) return 0;
  for (int field = 6; field < 14; ++field) fields >> skipped;
  uint64_t total = 0, ticks = 0;
  for (int field = 14; field <= 17 && fields >> ticks; ++field) total += ticks;
  return total;
}

// A program may start others: all that run in its group count.
uint64_t ticks_of(const std::vector<pid_t>& groups) {
  if (groups.empty()) return 0;
  uint64_t total = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (!std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c); })) continue;
    total += ticks_of(entry.path() / "stat", groups);
  }
  return total;
}

}  // namespace

float MachineLoad::measure(Measured& last, const Ticks& now) {
  static const auto second =
      static_cast<uint64_t>(::sysconf(_SC_CLK_TCK) * ::sysconf(_SC_NPROCESSORS_ONLN));
  const bool first = last.at.all == 0;
  if (!first && now.all < last.at.all + second) return last.percent;
  if (!first) {
    const uint64_t busy = now.busy - std::min(now.busy, last.at.busy);
    const auto share = static_cast<float>(busy) / static_cast<float>(now.all - last.at.all);
    last.percent = std::clamp(share * 100, 0.0f, 100.0f);
  }
  last.at = now;
  return last.percent;
}

float MachineLoad::cpu() {
  const CpuLine line = read_cpu_line();
  return measure(machine_, {line.all, line.all - line.idle});
}

float MachineLoad::cpu_of_jobs(const std::vector<pid_t>& running) {
  Ticks now{read_cpu_line().all, 0};
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    now.busy += ticks_of(usage);
  }
  now.busy += ticks_of(running);
  return measure(jobs_, now);
}

float MachineLoad::memory() {
  std::ifstream file("/proc/meminfo");
  uint64_t total = 0, available = 0;
  std::string name, unit;
  uint64_t kilobytes = 0;
  while ((total == 0 || available == 0) && file >> name >> kilobytes) {
    std::getline(file, unit);
    if (name == "MemTotal:") total = kilobytes;
    if (name == "MemAvailable:") available = kilobytes;
  }
  if (total == 0 || available > total) return 0;
  return static_cast<float>(total - available) * 100 / static_cast<float>(total);
}

}  // namespace fairlead::worker
