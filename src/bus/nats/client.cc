#include "bus/nats/client.h"

#include <algorithm>
#include <cstdlib>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/limits.h"
#include "bus/nats/nkey.h"

namespace fairlead::bus::nats {

namespace {

constexpr const char* kClientName = "cordum-bus";
// libnats cannot be told the least version of TLS. Ciphers of TLS 1.3 are a list of their own; of
// the older ones, only such are offered that need a shared key, which nobody has.
constexpr const char* kNoOldCiphers = "PSK-AES128-GCM-SHA256";

int to_millis(Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

std::string host_of(const std::string& server) {
  size_t begin = server.find("://");
  begin = begin == std::string::npos ? 0 : begin + 3;
  const size_t end = server.rfind(':');
  std::string host =
      server.substr(begin, end == std::string::npos || end < begin ? end : end - begin);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return host;
}

bool is_address(const std::string& host) {
  unsigned char bytes[16];
  return ::inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

// The name that the server's certificate must have; empty: none is known. libnats compares names
// only, and servers tell us of each other by their addresses.
std::string certificate_name(const Settings& settings, const std::string& server) {
  if (!settings.tls.server_name.empty()) return settings.tls.server_name;
  if (std::string host = host_of(server); !is_address(host)) return host;
  std::string first = host_of(settings.servers.front());
  return is_address(first) ? "" : first;
}

natsStatus sign(char** why, unsigned char** signature, int* bytes, const char* nonce,
                void* closure) {
  *why = nullptr;
  return nats_Sign(static_cast<const std::string*>(closure)->c_str(), nonce, signature, bytes);
}

// Sets one option after another until one fails.
class Setting {
 public:
  explicit Setting(natsOptions* options) : options_(options) {}
  template <class... Parameters, class... Arguments>
  Setting& operator()(const char* what, natsStatus (*set)(natsOptions*, Parameters...),
                      Arguments... arguments) {
    if (!error_.empty()) return *this;
    natsStatus status = set(options_, arguments...);
    if (status != NATS_OK) error_ = fmt::format("{}: {}", what, last_error(status));
    return *this;
  }
  const std::string& error() const { return error_; }

 private:
  natsOptions* options_;
  std::string error_;
};

void set_tls(Setting& set, const Tls& tls, const std::string& name) {
  set("TLS", natsOptions_SetSecure, true);
  if (tls.insecure) {
    set("NATS_TLS_INSECURE", natsOptions_SkipServerVerification, true);
  } else {
    set("NATS_TLS_SERVER_NAME", natsOptions_SetExpectedHostname, name.c_str());
  }
  if (!tls.ca.empty()) {
    set("NATS_TLS_CA", natsOptions_LoadCATrustedCertificates, tls.ca.c_str());
  }
  if (!tls.certificate.empty()) {
    set("NATS_TLS_CERT", natsOptions_LoadCertificatesChain, tls.certificate.c_str(),
        tls.key.c_str());
  }
  if (tls.only_1_3) set("TLS 1.3", natsOptions_SetCiphers, kNoOldCiphers);
}

}  // namespace

Result<Options> connection_options(const Settings& settings, const std::string& server) {
  natsOptions* made = nullptr;
  if (natsStatus status = natsOptions_Create(&made); status != NATS_OK) {
    return fail(ErrorCode::kUnavailable, last_error(status));
  }
  Options options(made, natsOptions_Destroy);
  Setting set(made);
  set("NATS_URL", natsOptions_SetURL, server.c_str());
  set("name", natsOptions_SetName, kClientName);
  set("reconnecting", natsOptions_SetAllowReconnect, false);
  set("sending", natsOptions_SetSendAsap, true);
  set("delivery", natsOptions_UseGlobalMessageDelivery, true);
  set("connect timeout", natsOptions_SetTimeout,
      static_cast<int64_t>(to_millis(limits::kNatsConnectWait)));
  set("NATS_PING_INTERVAL", natsOptions_SetPingInterval,
      static_cast<int64_t>(to_millis(std::min(settings.ping_every, limits::kNatsPingEvery))));
  set("pings", natsOptions_SetMaxPingsOut, limits::kNatsPingsUnansweredMax);
  if (!settings.user.empty()) {
    set("NATS_USERNAME", natsOptions_SetUserInfo, settings.user.c_str(), settings.password.c_str());
  } else if (!settings.token.empty()) {
    set("NATS_TOKEN", natsOptions_SetToken, settings.token.c_str());
  } else if (!settings.nkey_seed.empty()) {
    Result<std::string> name = nkey_public(settings.nkey_seed);
    if (!name) return fail(ErrorCode::kInvalid, "NATS_NKEY: " + name.error().message);
    set("NATS_NKEY", natsOptions_SetNKey, name->c_str(), sign,
        const_cast<void*>(static_cast<const void*>(&settings.nkey_seed)));
  }
  if (settings.tls.on) {
    const std::string name = certificate_name(settings, server);
    if (name.empty() && !settings.tls.insecure) {
      return fail(ErrorCode::kInvalid,
                  "NATS_TLS_SERVER_NAME: must say the name in the server's certificate when "
                  "NATS_URL has an address");
    }
    set_tls(set, settings.tls, name);
  }
  if (!set.error().empty()) return fail(ErrorCode::kInvalid, set.error());
  return options;
}

std::string last_error(natsStatus status) {
  natsStatus of_error = NATS_OK;
  const char* text = nats_GetLastError(&of_error);
  if (text && *text && of_error == status) {
    return fmt::format("{} ({})", text, natsStatus_GetText(status));
  }
  return natsStatus_GetText(status);
}

std::string header_block(natsMsg* message) {
  const char** keys = nullptr;
  int count = 0;
  if (natsMsgHeader_Keys(message, &keys, &count) != NATS_OK) return {};
  std::string block = "NATS/1.0\r\n";
  for (int i = 0; i < count; ++i) {
    const char** values = nullptr;
    int value_count = 0;
    if (natsMsgHeader_Values(message, keys[i], &values, &value_count) != NATS_OK) continue;
    for (int j = 0; j < value_count; ++j)
      block.append(keys[i]).append(": ").append(values[j]) += "\r\n";
    std::free(values);
  }
  std::free(keys);
  return block + "\r\n";
}

}  // namespace fairlead::bus::nats
