// What a server shows over HTTP, API and metrics, and the files behind it that are read again when
// they are edited: pools, API keys, certificates.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/config.h"
#include "base/log.h"
#include "edge/http/server.h"
#include "runtime/loop.h"
#include "runtime/nursery.h"

namespace fairlead::app {

class Front {
 public:
  // All must outlive it.
  Front(const Config& config, Loop& loop, Log& log);
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  // Reads the files for the first time; `api`: the API will be served. An error is one sentence.
  Result<void> read_files(bool api);
  std::shared_ptr<const routing::PoolMap> pools() const { return pools_; }
  bool has_keys() const { return !keys_->empty(); }

  // Listens for metrics, and for calls of the API if it is wanted. What it serves must outlive it.
  Result<void> listen(http::Backend& backend, bool api);
  // Looks at the files for as long as it lives. `take_pools` brings edited pools into force.
  using TakePools = std::function<Task<Result<void>>(std::shared_ptr<const routing::PoolMap>)>;
  void begin_watching(TakePools take_pools);
  // Likewise at those of a listener; none when it has no TLS.
  using Tls = std::shared_ptr<const edge::TlsContext>;
  void watch_certificate(const char* listener, const std::optional<ListenerTls>& tls,
                         std::function<void(Tls)> use);
  // Answers the calls that are under way and takes no more. Metrics and probes are told on, until
  // close().
  Task<void> stop(Duration patience);
  // At once, before what it serves goes.
  void close();

  std::string api_url() const;
  std::string metrics_url() const;

 private:
  Result<uint16_t> listen_api(http::Backend& backend);
  Task<void> read_pools_again();
  Task<void> read_keys_again();

  const Config& config_;
  Loop& loop_;
  Log& log_;
  // As they were when they were read first.
  std::string pools_mark_;
  std::string keys_mark_;
  std::shared_ptr<const routing::PoolMap> pools_;
  TakePools take_pools_;
  std::shared_ptr<const http::ApiKeys> keys_;
  http::Backend* backend_ = nullptr;
  std::unique_ptr<http::Server> http_;
  // Metrics and probes, on a thread of their own: whatever the API is asked, they answer.
  std::unique_ptr<http::Server> probes_;
  std::unique_ptr<http::EventTap> tap_;
  uint16_t api_port_ = 0;
  uint16_t metrics_port_ = 0;
  // Last, so that the tasks go before what they use.
  Nursery tasks_;
};

}  // namespace fairlead::app
