// What Redis and JetStream hold when a round is over.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/chaos/evidence.h"
#include "tests/load/wire.h"

struct redisContext;

namespace fairlead::chaos {

class Aftermath {
 public:
  explicit Aftermath(load::Endpoint redis) : redis_(std::move(redis)) {}
  ~Aftermath();
  Aftermath(const Aftermath&) = delete;
  Aftermath& operator=(const Aftermath&) = delete;

  // Takes the jobs out that have ended. False when Redis did not answer.
  bool drop_ended(std::set<std::string>& open);
  std::map<std::string, FinalRecord> records(const std::set<std::string>& jobs);
  // What should be empty while no job is live, and is not.
  std::vector<std::string> leftovers();

 private:
  bool connected();
  std::optional<std::string> living_holder(const std::string& lease);
  // The answers to some commands that are sent together, in their order; fewer when Redis goes
  // away.
  std::vector<std::vector<std::string>> ask(const std::vector<std::vector<std::string>>& commands);

  load::Endpoint redis_;
  redisContext* connection_ = nullptr;
};

// Messages of the schedulers' durables that are not answered or not yet delivered.
std::vector<std::string> stream_leftovers(load::asio::io_context& context,
                                          const load::Endpoint& nats);

// The dispatches that are in their stream from a sequence on, which is moved behind them.
std::set<std::pair<std::string, uint64_t>> published_dispatches(load::asio::io_context& context,
                                                                const load::Endpoint& nats,
                                                                uint64_t& from);

// Job and epoch of a packet to a worker.
std::pair<std::string, uint64_t> dispatch_of(std::string_view packet);

}  // namespace fairlead::chaos
