#include "tests/crash/crash_run.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "runtime/asio_loop.h"
#include "runtime/clock.h"
#include "tests/crash/audit.h"
#include "tests/crash/lives.h"

namespace fairlead::crash {

namespace {

// One acknowledged change, as the child reports it.
struct Report {
  uint64_t number = 0;
  uint64_t revision = 0;
};

struct Child {
  pid_t process = 0;
  int reports = -1;
};

Child start_child(const std::string& program, const std::string& folder, uint64_t next,
                  uint64_t count) {
  std::array<int, 2> ends{};
  check(pipe(ends.data()) == 0, "there is a pipe");
  std::string next_text = std::to_string(next);
  std::string count_text = std::to_string(count);
  std::string pipe_text = std::to_string(ends[1]);
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  pid_t process = fork();
  check(process >= 0, "a child can be started");
  if (process == 0) {
    execl(program.c_str(), program.c_str(), "--child", folder.c_str(), next_text.c_str(),
          count_text.c_str(), pipe_text.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  return {process, ends[0]};
}

// Takes reports until the pipe is empty for `patience` (-1: until it ends).
class Reports {
 public:
  Reports(int pipe, Ledger& ledger) : pipe_(pipe), ledger_(ledger) {}

  // False when the pipe has ended.
  bool take(int patience_ms) {
    pollfd waiting{pipe_, POLLIN, 0};
    if (poll(&waiting, 1, patience_ms) == 0) return true;
    std::array<char, 1 << 16> buffer;
    ssize_t size = read(pipe_, buffer.data(), buffer.size());
    if (size <= 0) return false;
    bytes_.append(buffer.data(), static_cast<size_t>(size));
    size_t whole = bytes_.size() / sizeof(Report) * sizeof(Report);
    for (size_t at = 0; at < whole; at += sizeof(Report)) {
      Report report;
      std::memcpy(&report, bytes_.data() + at, sizeof report);
      ledger_.acknowledged(report.number, report.revision);
    }
    bytes_.erase(0, whole);
    return true;
  }

 private:
  int pipe_;
  Ledger& ledger_;
  std::string bytes_;
};

// Lets a child work for a while and kills it. False when it ended by itself.
bool run_and_kill(const std::string& program, const std::string& folder,
                  const CrashOptions& options, Random& random, Ledger& ledger) {
  SystemClock clock;
  Child child = start_child(program, folder, ledger.next(), options.jobs_at_once);
  Reports reports(child.reports, ledger);
  // Some die before their first word, while they open the folder.
  uint64_t changes = ledger.changes();
  Duration life = random.between(Duration(0), options.life_max);
  bool early = random.chance(10);
  MonotonicTime end = clock.monotonic() + life;
  bool alive = true;
  while (alive && clock.monotonic() < end) {
    alive = reports.take(1);
    if (!early && ledger.changes() == changes) end = clock.monotonic() + life;
  }
  kill(child.process, SIGKILL);
  while (reports.take(-1)) {
  }
  close(child.reports);
  int status = 0;
  waitpid(child.process, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

std::string audit(const std::string& folder, Ledger& ledger, bool everything) {
  store::PumpLoop loop;
  SystemClock clock;
  auto store = store::RocksStore::open({.path = folder}, loop, clock);
  if (!store) return store.error().message;
  std::string text;
  for (const std::string& fault : ledger.audit(**store, loop, everything)) text += fault + "\n";
  return text;
}

}  // namespace

CrashSummary run(const std::string& program, const CrashOptions& options) {
  std::string folder = (std::filesystem::temp_directory_path() / "fairlead-crash-XXXXXX").string();
  check(mkdtemp(folder.data()) != nullptr, "there is room for a temporary folder");
  std::string data = folder + "/data";
  SeededRandom random(options.seed);
  Ledger ledger;
  CrashSummary summary;
  summary.folder = data;
  while (summary.rounds < options.rounds && summary.fault.empty()) {
    ++summary.rounds;
    if (!run_and_kill(program, data, options, random, ledger)) {
      summary.fault = "the child ended before it was killed\n";
      break;
    }
    bool everything = summary.rounds == options.rounds || summary.rounds % 50 == 0;
    summary.fault = audit(data, ledger, everything);
    if (options.verbose) {
      fmt::print("round {}: {} changes acknowledged so far, {} jobs\n", summary.rounds,
                 ledger.changes(), ledger.jobs());
      std::fflush(stdout);
    }
  }
  summary.changes = ledger.changes();
  summary.jobs = ledger.jobs();
  if (summary.fault.empty()) std::filesystem::remove_all(folder);
  return summary;
}

void child(const std::string& folder, uint64_t next, uint64_t count, int pipe) {
  AsioLoop loop;
  SystemClock clock;
  auto store = store::RocksStore::open({.path = folder}, loop, clock);
  if (!store) {
    fmt::print(stderr, "crash child: {}\n", store.error().message);
    std::_Exit(1);
  }
  Lives lives(**store, [pipe](uint64_t number, uint64_t revision) {
    Report report{number, revision};
    check(write(pipe, &report, sizeof report) == sizeof report, "the parent listens");
  });
  loop.post([&] { lives.start(count, next); });
  loop.run();
  std::_Exit(1);
}

}  // namespace fairlead::crash
