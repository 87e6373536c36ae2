// A worker on a connection of its own: it says that it is there and hands over the jobs it gets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "tests/load/nats_client.h"

namespace fairlead::load {

class NatsWorker {
 public:
  // The bytes of the packet, as they came.
  using OnJob = std::function<void(NatsWorker&, std::string_view packet)>;
  // The sequence of the job's result in the stream that keeps it; 0 when there is no stream.
  using OnStored = std::function<void(std::string_view job, uint64_t sequence)>;

  NatsWorker(asio::io_context& context, std::string id, std::string pool, int capacity,
             OnJob on_job);
  NatsWorker(const NatsWorker&) = delete;
  NatsWorker& operator=(const NatsWorker&) = delete;

  // Called for each result that was told surely and is stored.
  void on_stored(OnStored on_stored) { on_stored_ = std::move(on_stored); }

  bool connect(const Endpoint& place);
  void beat(int active = 0);
  // Ends the job of this packet with SUCCEEDED: told once.
  void succeed(std::string_view packet);
  // The same, told until the server says that it is stored, over as many connections as it takes.
  void succeed_surely(std::string_view packet);
  // Tells again what was told surely and is not known to be stored.
  void tell_again();
  size_t untold() const { return untold_.size(); }
  void close() { client_.close(); }

  const std::string& id() const { return client_.name(); }
  bool connected() const { return client_.connected(); }

 private:
  struct Result {
    std::string job;
    std::string packet;
  };

  void hear_stored(const NatsMessage& answer);
  std::string inbox(uint64_t number) const;

  NatsClient client_;
  std::string pool_;
  int capacity_;
  OnJob on_job_;
  OnStored on_stored_;
  std::map<uint64_t, Result> untold_;  // by their number
  uint64_t last_number_ = 0;
};

// A result of SUCCEEDED that names the dispatch as the worker got it.
std::string success_packet(const std::string& worker, const std::string& job,
                           std::string_view dispatch);
// The fields that tell of one dispatch, as the worker got them.
std::string_view dispatch_identity(std::string_view packet);

}  // namespace fairlead::load
