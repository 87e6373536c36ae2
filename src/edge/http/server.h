// The HTTP server: sockets on a thread of their own, and calls that it hands to the loop.
//
// It is made, used and destroyed on the loop's thread. Requests are parsed, admitted and read on
// the server's thread; only what was understood reaches the loop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "edge/http/api/api.h"
#include "edge/http/api/backend.h"
#include "edge/http/api/event_tap.h"
#include "edge/http/event_hub.h"
#include "edge/http/gatekeeper.h"
#include "edge/http/http_limits.h"
#include "edge/http/keys.h"
#include "edge/net/tls.h"
#include "runtime/task.h"

namespace fairlead::http {

class ServerCore;

struct ServerTimeouts {
  Duration header = limits::kHttpHeaderTimeout;
  Duration read = limits::kHttpReadTimeout;
  Duration write = limits::kHttpWriteTimeout;
  Duration idle = limits::kHttpIdleTimeout;
  Duration stream_write = std::chrono::seconds(5);
  Duration stream_ping = limits::kStreamPingEvery;
  Duration key_check = std::chrono::seconds(120);
  Duration sweep_every = limits::kHttpSweepEvery;
};

struct ServerSettings {
  ServerTimeouts timeouts;
  size_t connections_max = limits::kHttpConnectionsMax;  // of each listener
  size_t streams_max = limits::kStreamListenersMax;
  size_t body_bytes_max = limits::kHttpBodyBytesMax;
  size_t job_bytes_max = limits::kHttpBodyBytesMax;            // of the body that submits a job
  size_t answer_bytes_max = limits::kHttpAnswerBytesOfAllMax;  // of all answers under way

  size_t largest_body() const { return std::max(body_bytes_max, job_bytes_max); }
};

struct ListenSettings {
  std::string address = "127.0.0.1";
  uint16_t port = 0;  // 0: any free one
  std::shared_ptr<const Api> api;
  AccessSettings access;
  std::shared_ptr<const ApiKeys> keys = std::make_shared<const ApiKeys>();
  std::shared_ptr<const edge::TlsContext> tls{};  // nullptr: plain HTTP
  // May be reached from elsewhere without keys: for what is no secret, as metrics.
  bool public_without_keys = false;
};

class Server {
 public:
  // Loop and backend must outlive the server.
  Server(Loop& loop, Backend& backend, ServerSettings settings = {});
  ~Server();

  // Begins to listen; tells the port. An address beyond this machine needs keys. The error names
  // the address and what to do about it.
  Result<uint16_t> listen(ListenSettings settings);

  // The keys of every listener, from now on.
  void set_keys(std::shared_ptr<const ApiKeys> keys);
  // Shown from now on to who connects to that port. REQUIRES: its listener had a certificate.
  void set_tls(uint16_t port, std::shared_ptr<const edge::TlsContext> tls);

  // Events for the readers of streams; put into words on the server's thread. When that does not
  // keep up some are lost, and the readers are told so.
  void publish(std::vector<TappedEvent> events);
  // From now on events are missed.
  void forget_events();
  size_t stream_readers() const;

  // Takes no more connections and refuses further requests on those there are; waits until calls
  // under way are answered, or patience is over.
  Task<void> stop(Duration patience);

 private:
  Loop& loop_;
  std::shared_ptr<ServerCore> core_;
};

}  // namespace fairlead::http
