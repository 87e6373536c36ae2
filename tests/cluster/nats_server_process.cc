#include "tests/cluster/nats_server_process.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include <poll.h>
#include <sys/wait.h>

#include <boost/json.hpp>

namespace fairlead::cluster {

namespace {

namespace fs = std::filesystem;

// Debian puts it where only root looks.
std::string program() {
  const std::string installed = "/usr/sbin/nats-server";
  return fs::exists(installed) ? installed : "nats-server";
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "nats-server: %s\n", why.c_str());
  std::abort();
}

// 0: any that is free.
std::string number(uint16_t port) {
  return port == 0 ? "-1" : std::to_string(port);
}

uint16_t port_in(const boost::json::value& ports, const char* name) {
  const std::string url(ports.at(name).as_array().at(0).as_string());
  return static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
}

}  // namespace

NatsServerProcess::NatsServerProcess(NatsServerOptions options) : options_(std::move(options)) {
  std::string pattern = (fs::temp_directory_path() / "fairlead-nats-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) give_up("there is no temporary folder");
  folder_ = pattern;
  start();
}

NatsServerProcess::~NatsServerProcess() {
  child_.reset();
  fs::remove_all(folder_);
}

void NatsServerProcess::write_config() const {
  std::ofstream file(folder_ / "nats.conf");
  if (!options_.file.empty()) {
    // Flags win over the rest of it; a folder for streams may be named only once.
    file << std::regex_replace(text_of(options_.file), std::regex("/var/lib/nats"),
                               (folder_ / "data").string());
    return;
  }
  file << "listen: \"127.0.0.1:" << number(port_) << "\"\n"
       << "http: \"127.0.0.1:" << number(monitor_port_) << "\"\n"
       << "ports_file_dir: \"" << folder_.string() << "\"\n"
       << "log_file: \"" << (folder_ / "log").string() << "\"\n";
  if (options_.jetstream) {
    file << "jetstream { store_dir: \"" << (folder_ / "data").string() << "\" }\n";
  }
  file << options_.config << "\n";
}

std::vector<std::string> NatsServerProcess::command() const {
  std::vector<std::string> words = {program(), "-c", (folder_ / "nats.conf").string()};
  if (options_.file.empty()) return words;
  words.insert(words.end(),
               {"-a", "127.0.0.1", "-p", number(port_), "-m", number(monitor_port_), "-l",
                (folder_ / "log").string(), "--ports_file_dir", folder_.string()});
  words.insert(words.end(), options_.flags.begin(), options_.flags.end());
  return words;
}

void NatsServerProcess::start() {
  write_config();
  child_ = std::make_unique<edge::Child>(command(), options_.variables);
  await_ports();
}

void NatsServerProcess::start(std::string config) {
  options_.config = std::move(config);
  start();
}

// It writes its ports to a file named after its process when it listens on them.
void NatsServerProcess::await_ports() {
  const fs::path file = folder_ / ("nats-server_" + std::to_string(child_->id()) + ".ports");
  for (int tries = 0; tries < 2000; ++tries) {
    boost::system::error_code incomplete;
    const boost::json::value ports = boost::json::parse(text_of(file), incomplete);
    if (!incomplete && ports.is_object()) {
      port_ = port_in(ports, "nats");
      monitor_port_ = port_in(ports, "monitoring");
      return;
    }
    ::poll(nullptr, 0, 10);
  }
  give_up("it does not listen: " + log());
}

void NatsServerProcess::kill() {
  child_->signal(SIGKILL);
  child_->wait();
}

void NatsServerProcess::freeze() {
  child_->signal(SIGSTOP);
  ::waitpid(child_->id(), nullptr, WUNTRACED);
}

void NatsServerProcess::thaw() {
  child_->signal(SIGCONT);
}

std::string NatsServerProcess::url(const std::string& scheme) const {
  return scheme + "://127.0.0.1:" + std::to_string(port_);
}

std::string NatsServerProcess::monitor_url() const {
  return "http://127.0.0.1:" + std::to_string(monitor_port_);
}

std::string NatsServerProcess::log() const {
  return text_of(folder_ / "log");
}

}  // namespace fairlead::cluster
