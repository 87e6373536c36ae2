#include "worker/machine_load.h"

#include <algorithm>
#include <fstream>
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

// Of a running program and of those of its children that ended.
uint64_t ticks_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');
  if (name_end == text.npos) return 0;
  std::string_view rest = std::string_view(text).substr(name_end + 1);
  uint64_t total = 0;
  // Fields 14 to 17 of the line; the first behind the name is 3.
  for (int field = 3; field <= 17 && !rest.empty(); ++field) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const size_t end = std::min(rest.find(' '), rest.size());
    if (field >= 14) total += std::strtoull(std::string(rest.substr(0, end)).c_str(), nullptr, 10);
    rest.remove_prefix(end);
  }
  return total;
}

}  // namespace

float MachineLoad::percent(const Ticks& before, const Ticks& now) {
  if (now.all <= before.all || now.busy <= before.busy) return 0;
  const auto share =
      static_cast<float>(now.busy - before.busy) / static_cast<float>(now.all - before.all);
  return std::clamp(share * 100, 0.0f, 100.0f);
}

float MachineLoad::cpu() {
  const CpuLine line = read_cpu_line();
  const Ticks now{line.all, line.all - line.idle};
  const float load = machine_.all == 0 ? 0 : percent(machine_, now);
  machine_ = now;
  return load;
}

float MachineLoad::cpu_of_jobs(const std::vector<pid_t>& running) {
  Ticks now{read_cpu_line().all, 0};
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    now.busy += ticks_of(usage);
  }
  for (pid_t process : running) now.busy += ticks_of(process);
  const float load = jobs_.all == 0 ? 0 : percent(jobs_, now);
  jobs_ = now;
  return load;
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
