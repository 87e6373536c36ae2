// How `fairlead up` is started on free ports of this machine, and what it says when it is ready.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::load {

struct ServerPorts {
  uint16_t api = 0;
  uint16_t workers = 0;
  uint16_t payloads = 0;
  uint16_t metrics = 0;
};

inline constexpr std::string_view kReady = "fairlead is ready";

// The command. 0 of a port: any that is free. `flags` win over what is given here.
inline std::vector<std::string> up_words(const std::string& program, const std::string& data,
                                         const std::vector<std::string>& flags,
                                         const ServerPorts& ports = {}) {
  std::vector<std::string> words{program, "up", "--data", data};
  auto add = [&](const char* flag, uint16_t port) {
    words.insert(words.end(), {flag, "127.0.0.1:" + std::to_string(port)});
  };
  add("--listen-api", ports.api);
  add("--listen-workers", ports.workers);
  add("--listen-payloads", ports.payloads);
  add("--listen-metrics", ports.metrics);
  words.insert(words.end(), flags.begin(), flags.end());
  return words;
}

// Where it listens; zeros when the line does not say so.
inline ServerPorts ports_in(std::string_view ready_line) {
  // The number behind the last colon of what follows the name.
  auto port_of = [&](std::string_view name) {
    uint16_t port = 0;
    const size_t at = ready_line.find(name);
    if (at == ready_line.npos) return port;
    std::string_view rest = ready_line.substr(at + name.size());
    rest = rest.substr(0, rest.find(','));
    rest = rest.substr(rest.rfind(':') + 1);
    std::from_chars(rest.data(), rest.data() + rest.size(), port);
    return port;
  };
  return {port_of(" api "), port_of(" workers "), port_of(" payloads "), port_of(" metrics ")};
}

}  // namespace fairlead::load
