// Who may come in: origin, rate, key, tenant. One for each listener, on its thread.
//
// Without keys only this machine is served, and of pages only those that came from here: a page of
// any other origin in a browser on this machine could otherwise submit jobs.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "edge/http/api/message.h"
#include "edge/http/http_limits.h"
#include "edge/http/keys.h"
#include "edge/http/rate_limit.h"

namespace fairlead::http {

struct AccessSettings {
  // Origins of pages that may call, "*" for all. Empty: pages of this machine and of the same host.
  std::vector<std::string> allowed_origins;
  // Of a key; and of an address that shows none.
  Rate rate{limits::kHttpRatePerSecond, limits::kHttpRateBurst};
  Rate public_rate{limits::kHttpPublicRatePerSecond, limits::kHttpPublicRateBurst};
  // Where there are no keys: of an address, and of its calls that would need none.
  Rate open_rate{};
  Rate open_public_rate{};
};

struct Peer {
  std::string address;
  bool loopback = false;
};

class Gatekeeper {
 public:
  Gatekeeper(AccessSettings settings, std::shared_ptr<const ApiKeys> keys);

  void set_keys(std::shared_ptr<const ApiKeys> keys) { keys_ = std::move(keys); }
  bool open() const { return keys_->empty(); }

  // Whether a request may be served at all, whoever asks: its host and its origin.
  std::expected<void, Reply> check_origin(const Request& request, const Peer& peer) const;
  // Who asks. `needs_key` is false for public paths.
  std::expected<Caller, Reply> admit(const Request& request, const Peer& peer, bool needs_key,
                                     WallTime wall, MonotonicTime now);
  // Whether the request of a stream would still be that of the caller it was admitted as: its key
  // holds, and gives the same rights.
  bool still_holds(const Request& request, WallTime wall) const;

  // What a browser must be told; nothing when no page asks.
  void add_cross_origin(const Request& request, Pairs& headers) const;
  // The answer to a browser that asks what it may do.
  Reply preflight(const Request& request) const;

 private:
  // Who holds the key of that hash, or everybody when there are no keys. nullptr: nobody.
  const KeyHolder* holder_of(const std::string& hash, WallTime wall) const;
  bool origin_allowed(std::string_view origin, std::string_view host) const;
  Duration wait_of(const std::string& hash, bool known, const Peer& peer, bool needs_key,
                   MonotonicTime now);

  AccessSettings settings_;
  std::shared_ptr<const ApiKeys> keys_;
  RateLimiter by_key_;  // by what the key is known by
  RateLimiter by_address_;
  RateLimiter open_;
  RateLimiter open_public_;
};

// The key that a request shows: Authorization, X-API-Key, or a WebSocket's subprotocol. "": none.
std::string shown_key(const Request& request);

}  // namespace fairlead::http
