#include "tests/load/nats_client.h"

#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

namespace fairlead::load {

uint64_t number_in(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void NatsClient::subscribe(std::string subject, Heard heard) {
  subscriptions_.emplace_back(std::move(subject), std::move(heard));
}

bool NatsClient::connect(const Endpoint& place) {
  close();
  wire_ = std::make_shared<Wire>(context_);
  if (!wire_->connect(place)) return false;
  connected_ = true;
  wire_->start([this](std::string_view bytes) { return take(bytes); },
               [this] { connected_ = false; });
  const char* token = std::getenv("NATS_TOKEN");
  const std::string secret = token ? fmt::format(",\"auth_token\":\"{}\"", token) : "";
  wire_->send(fmt::format("CONNECT {{\"verbose\":false,\"name\":\"{}\"{}}}\r\n", name_, secret));
  for (size_t i = 0; i < subscriptions_.size(); ++i) {
    wire_->send(fmt::format("SUB {} {}\r\n", subscriptions_[i].subject, i));
  }
  return true;
}

void NatsClient::publish(std::string_view subject, std::string_view payload,
                         std::string_view reply) {
  if (!connected_) return;
  wire_->send(fmt::format("PUB {}{}{} {}\r\n{}\r\n", subject, reply.empty() ? "" : " ", reply,
                          payload.size(), payload));
}

void NatsClient::close() {
  connected_ = false;
  if (wire_) wire_->close();
}

size_t NatsClient::take(std::string_view bytes) {
  size_t taken = 0;
  while (true) {
    std::string_view rest = bytes.substr(taken);
    size_t end = rest.find("\r\n");
    if (end == rest.npos) return taken;
    std::string_view line = rest.substr(0, end);
    if (line.starts_with("PING")) wire_->send("PONG\r\n");
    if (!line.starts_with("MSG ")) {
      taken += end + 2;
      continue;
    }
    size_t size = number_in(line.substr(line.rfind(' ') + 1));
    if (rest.size() < end + 2 + size + 2) return taken;
    taken += end + 2 + size + 2;
    hear(line, rest.substr(end + 2, size));
  }
}

// MSG <subject> <subscription> [reply] <size>
void NatsClient::hear(std::string_view line, std::string_view payload) {
  line.remove_prefix(4);
  const std::string_view subject = line.substr(0, line.find(' '));
  const size_t subscription = number_in(line.substr(subject.size() + 1));
  if (subscription < subscriptions_.size()) subscriptions_[subscription].heard({subject, payload});
}

}  // namespace fairlead::load
