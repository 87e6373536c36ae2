// Clients that submit jobs at a steady pace, over the APIs of all replicas and over the bus, and
// ask again until each submit is acknowledged: over the API with the same key, at another replica;
// over the bus with the same id.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/chaos/evidence.h"
#include "tests/load/http_client.h"
#include "tests/load/nats_client.h"

namespace fairlead::chaos {

struct ClientOptions {
  std::vector<load::Endpoint> apis;
  load::Endpoint nats;
  bool over_bus = true;  // every second one
  double a_second = 60;
  std::string api_key;
};

class Clients {
 public:
  Clients(load::asio::io_context& context, ClientOptions options);

  // Whether new jobs are thought of; what was asked for is asked for until it is answered.
  void submit(bool on);
  // To be called often.
  void tick();
  size_t unanswered() const;

  // What was acknowledged, and answers that no client should get, since the last time.
  std::vector<Submit> take_acknowledged() { return std::exchange(acknowledged_, {}); }
  std::vector<std::string> take_surprises() { return std::exchange(surprises_, {}); }

 private:
  using SteadyClock = std::chrono::steady_clock;

  struct Asking {
    std::unique_ptr<load::HttpClient> client;
    size_t api = 0;
    std::string key;  // empty: it has nothing to ask for
    Micros sent = 0;
    bool waits = false;               // for an answer, until then
    SteadyClock::time_point until{};  // or else when it asks next
  };
  struct OnBus {
    Micros sent = 0;
    SteadyClock::time_point again_at{};
  };

  bool think_of_one(const std::string& name);
  void ask(Asking& asking);
  void hear(Asking& asking, int status, std::string_view body);
  void give_up_on(Asking& asking);
  void publish(const std::string& job, OnBus& state);

  load::asio::io_context& context_;
  ClientOptions options_;
  std::vector<std::unique_ptr<Asking>> askers_;
  load::NatsClient bus_;
  SteadyClock::time_point connect_at_{};
  std::map<std::string, OnBus> on_bus_;
  std::string run_;
  bool submitting_ = false;
  SteadyClock::time_point next_at_{};
  uint64_t thought_of_ = 0;
  std::vector<Submit> acknowledged_;
  std::vector<std::string> surprises_;
};

}  // namespace fairlead::chaos
