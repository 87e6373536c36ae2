#include "tests/cluster/replica_process.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <regex>

#include "tests/load/server_process.h"

namespace fairlead::cluster {

namespace {

uint16_t port_behind(const std::string& line, const char* name) {
  std::smatch found;
  const std::regex pattern(std::string(name) + " https?://[^,]*:(\\d+)");
  if (!std::regex_search(line, found, pattern)) return 0;
  return static_cast<uint16_t>(std::stoi(found[1].str()));
}

std::vector<std::string> command(const Servers& servers, std::string name,
                                 const std::vector<std::string>& flags) {
  std::vector<std::string> words = {load::fairlead_program(),
                                    "serve",
                                    "--role",
                                    "scheduler,gateway",
                                    "--nats-url",
                                    servers.nats.url(),
                                    "--redis-url",
                                    servers.redis.url(),
                                    "--listen-api",
                                    "127.0.0.1:0",
                                    "--listen-metrics",
                                    "127.0.0.1:0",
                                    "--rate-limit",
                                    "0",
                                    "--public-rate-limit",
                                    "0",
                                    "--instance",
                                    std::move(name)};
  if (servers.jetstream) words.emplace_back("--nats-jetstream");
  words.insert(words.end(), flags.begin(), flags.end());
  return words;
}

}  // namespace

ReplicaProcess::ReplicaProcess(const Servers& servers, std::string name,
                               const std::vector<std::string>& flags)
    : ReplicaProcess(command(servers, std::move(name), flags), {}) {}

ReplicaProcess::ReplicaProcess(const std::vector<std::string>& words,
                               const std::map<std::string, std::string>& variables)
    : child_(std::make_unique<edge::Child>(words, variables)) {
  do {
    ready_line_ = child_->line();
  } while (!ready_line_.empty() && ready_line_.find("fairlead is ready") == std::string::npos);
  api_ = port_behind(ready_line_, "api");
  metrics_ = port_behind(ready_line_, "metrics");
  if (api_ == 0 || metrics_ == 0) {
    std::fprintf(stderr, "fairlead serve did not get ready: %s\n", child_->output().c_str());
    std::exit(1);
  }
}

void ReplicaProcess::kill() {
  child_->signal(SIGKILL);
  child_->wait();
}

void ReplicaProcess::freeze() {
  child_->signal(SIGSTOP);
}

void ReplicaProcess::thaw() {
  child_->signal(SIGCONT);
}

int ReplicaProcess::stop() {
  child_->signal(SIGTERM);
  return child_->wait();
}

}  // namespace fairlead::cluster
