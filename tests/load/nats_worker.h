// A worker on a connection of its own: it says that it is there and hands over the jobs it gets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tests/load/wire.h"

namespace fairlead::load {

class NatsWorker {
 public:
  // The bytes of the packet, as they came.
  using OnJob = std::function<void(NatsWorker&, std::string_view packet)>;

  NatsWorker(asio::io_context& context, std::string id, std::string pool, int capacity,
             OnJob on_job)
      : context_(context),
        id_(std::move(id)),
        pool_(std::move(pool)),
        capacity_(capacity),
        on_job_(std::move(on_job)) {}
  ~NatsWorker() { close(); }
  NatsWorker(const NatsWorker&) = delete;
  NatsWorker& operator=(const NatsWorker&) = delete;

  bool connect(uint16_t port);
  void beat(int active = 0);
  // Ends the job of this packet with SUCCEEDED: told once.
  void succeed(std::string_view packet);
  // The same, told until the server says that it is stored, over as many connections as it takes.
  void succeed_surely(std::string_view packet);
  size_t untold() const { return untold_.size(); }
  void publish(std::string_view subject, std::string_view payload, std::string_view reply = {});
  void close();

  const std::string& id() const { return id_; }
  bool connected() const { return connected_; }

 private:
  size_t take(std::string_view bytes);
  void hear(std::string_view line, std::string_view payload);
  std::string inbox(uint64_t number) const;

  asio::io_context& context_;
  std::string id_;
  std::string pool_;
  int capacity_;
  OnJob on_job_;
  std::shared_ptr<Wire> wire_;
  bool connected_ = false;
  std::map<uint64_t, std::string> untold_;  // results by their number
  uint64_t last_number_ = 0;
};

// A result of SUCCEEDED that names the dispatch as the worker got it.
std::string success_packet(const std::string& worker, const std::string& job,
                           std::string_view dispatch);
// The fields that tell of one dispatch, as the worker got them.
std::string_view dispatch_identity(std::string_view packet);

}  // namespace fairlead::load
