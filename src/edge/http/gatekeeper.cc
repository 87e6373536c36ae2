#include "edge/http/gatekeeper.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

namespace {

// "localhost" of "localhost:8081", "[::1]" of "[::1]:8081".
std::string_view name_of_host(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool is_this_machine(std::string_view given) {
  std::string name = lower(given);
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]";
}

std::string_view host_of_origin(std::string_view origin) {
  size_t scheme = origin.find("://");
  return scheme == origin.npos ? std::string_view() : origin.substr(scheme + 3);
}

Reply too_many(Duration wait) {
  auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  return std::move(problem(429, "rate limited", "rate_limited")
                       .with("Retry-After", std::to_string(std::max<int64_t>(1, seconds))));
}

std::string_view tenant_named(const Request& request) {
  for (const char* header : {"x-tenant-id", "x-cordum-tenant"}) {
    if (std::string_view tenant = trim(request.header(header)); !tenant.empty()) return tenant;
  }
  return trim(request.parameter("tenant_id"));
}

std::string_view principal_named(const Request& request) {
  return trim(request.header("x-principal-id"));
}

// By what the key that a request shows is known; "": it shows none.
std::string hash_shown(const Request& request) {
  const std::string key = shown_key(request);
  return key.empty() ? "" : ApiKeys::hash_of(key);
}

// Who asks, with the rights of a key's holder and for the tenant that is named.
std::expected<Caller, Reply> caller_of(const KeyHolder& holder, const Request& request) {
  const std::string_view tenant = tenant_named(request);
  if (!tenant.empty() && !holder.all_tenants && TenantId(tenant) != holder.tenant) {
    return std::unexpected(problem(403, "tenant access denied", "tenant_access_denied"));
  }
  Caller caller;
  caller.tenant = tenant.empty() ? holder.tenant : TenantId(tenant);
  caller.all_tenants = holder.all_tenants && tenant.empty();
  caller.cross_tenant = holder.all_tenants;
  caller.role = holder.role;
  caller.principal_bound = !holder.principal.empty();
  caller.principal =
      caller.principal_bound ? holder.principal : std::string(principal_named(request));
  return caller;
}

}  // namespace

std::string shown_key(const Request& request) {
  std::string_view authorization = trim(request.header("authorization"));
  if (lower(authorization.substr(0, 7)) == "bearer ") {
    return std::string(trim(authorization.substr(7)));
  }
  if (std::string_view key = trim(request.header("x-api-key")); !key.empty()) {
    return std::string(key);
  }
  bool next = false;
  for (std::string_view protocol : split(request.header("sec-websocket-protocol"), ',')) {
    protocol = trim(protocol);
    constexpr std::string_view kName = "cordum-api-key";
    if (next) return from_base64url(protocol).value_or("");
    if (protocol == kName) {
      next = true;
    } else if (protocol.starts_with("cordum-api-key.")) {
      return from_base64url(protocol.substr(kName.size() + 1)).value_or("");
    }
  }
  return "";
}

Gatekeeper::Gatekeeper(AccessSettings settings, std::shared_ptr<const ApiKeys> keys)
    : settings_(std::move(settings)),
      keys_(std::move(keys)),
      by_key_(settings_.rate),
      by_address_(settings_.public_rate),
      open_(settings_.open_rate),
      open_public_(settings_.open_public_rate) {}

bool Gatekeeper::origin_allowed(std::string_view origin, std::string_view host) const {
  std::string_view origin_host = host_of_origin(origin);
  if (origin_host.empty()) return false;
  if (lower(origin_host) == lower(host)) return true;
  if (open()) return false;
  if (!settings_.allowed_origins.empty()) {
    return std::ranges::any_of(settings_.allowed_origins, [&](const std::string& allowed) {
      return allowed == "*" || allowed == origin;
    });
  }
  return is_this_machine(name_of_host(origin_host));
}

std::expected<void, Reply> Gatekeeper::check_origin(const Request& request,
                                                    const Peer& peer) const {
  std::string_view host = trim(request.header("host"));
  if (open()) {
    if (!peer.loopback) {
      return std::unexpected(
          problem(403, "no API keys are set, so only this machine is served", "keys_required"));
    }
    // A name that an outsider's DNS points here is not this machine.
    if (!is_this_machine(name_of_host(host))) {
      return std::unexpected(problem(403,
                                     fmt::format("host \"{}\" is not served without API keys, "
                                                 "must be localhost, 127.0.0.1 or [::1]",
                                                 host.substr(0, 64)),
                                     "host_not_allowed"));
    }
    std::string_view site = request.header("sec-fetch-site");
    if (!site.empty() && site != "same-origin" && site != "none") {
      return std::unexpected(problem(403, "origin not allowed", "origin_not_allowed"));
    }
  }
  std::string_view origin = request.header("origin");
  if (!origin.empty() && !origin_allowed(origin, host)) {
    return std::unexpected(problem(403, "origin not allowed", "origin_not_allowed"));
  }
  return {};
}

const KeyHolder* Gatekeeper::holder_of(const std::string& hash, WallTime wall) const {
  static const KeyHolder everybody{TenantId("default"), Role::kAdmin, {}, true, {}};
  if (open()) return &everybody;
  return hash.empty() ? nullptr : keys_->find(hash, wall);
}

bool Gatekeeper::still_holds(const Request& request, WallTime wall) const {
  const KeyHolder* holder = holder_of(hash_shown(request), wall);
  if (!holder) return false;
  const auto now = caller_of(*holder, request);
  const Caller& then = request.caller;
  return now && now->role == then.role && now->tenant == then.tenant &&
         now->all_tenants == then.all_tenants;
}

// How long a caller has to wait for its turn.
Duration Gatekeeper::wait_of(const std::string& hash, bool known, const Peer& peer, bool needs_key,
                             MonotonicTime now) {
  if (open()) return (needs_key ? open_ : open_public_).take(peer.address, now);
  return known ? by_key_.take(hash, now) : by_address_.take(peer.address, now);
}

std::expected<Caller, Reply> Gatekeeper::admit(const Request& request, const Peer& peer,
                                               bool needs_key, WallTime wall, MonotonicTime now) {
  auto too_long = [](const char* what, size_t bytes) {
    return std::unexpected(problem(400,
                                   fmt::format("the {} has {} bytes, must have at most {}", what,
                                               bytes, limits::kTenantBytesMax),
                                   "invalid_request"));
  };
  std::string_view tenant = tenant_named(request);
  if (tenant.size() > limits::kTenantBytesMax) return too_long("tenant", tenant.size());
  std::string_view principal = principal_named(request);
  if (principal.size() > limits::kTenantBytesMax) return too_long("principal", principal.size());

  const std::string hash = hash_shown(request);
  const KeyHolder* holder = holder_of(hash, wall);
  if (Duration wait = wait_of(hash, holder, peer, needs_key, now); wait > Duration(0)) {
    return std::unexpected(too_many(wait));
  }
  if (!holder && needs_key) {
    return std::unexpected(
        std::move(problem(401, "unauthorized", "unauthorized").with("WWW-Authenticate", "Bearer")));
  }
  if (holder) return caller_of(*holder, request);
  Caller caller;
  caller.principal = principal;
  return caller;
}

void Gatekeeper::add_cross_origin(const Request& request, Pairs& headers) const {
  std::string_view origin = request.header("origin");
  if (origin.empty() || !origin_allowed(origin, trim(request.header("host")))) return;
  headers.emplace_back("Access-Control-Allow-Origin", origin);
  headers.emplace_back("Access-Control-Allow-Credentials", "true");
  headers.emplace_back("Access-Control-Expose-Headers",
                       "X-Request-Id, X-Trace-Id, X-Cache, X-Next-Cursor, Retry-After");
  headers.emplace_back("Vary", "Origin");
}

Reply Gatekeeper::preflight(const Request&) const {
  Reply reply = reply_empty(204);
  reply.with("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE, OPTIONS");
  reply.with("Access-Control-Allow-Headers",
             "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-API-Key, "
             "X-Cordum-Profile, X-Cordum-Tenant, X-Idempotency-Key, X-Principal-Id, "
             "X-Principal-Role, X-Request-Id, X-Tenant-ID");
  reply.with("Access-Control-Max-Age", "600");
  return reply;
}

}  // namespace fairlead::http
