// How a Redis is asked over TLS. The Go services' variables are named beside each.
#pragma once

#include <string>

namespace fairlead::store::redis {

struct TlsOptions {
  std::string ca_file;           // REDIS_TLS_CA; empty: the system's authorities
  std::string certificate_file;  // REDIS_TLS_CERT; with the key, or neither
  std::string key_file;          // REDIS_TLS_KEY
  std::string server_name;       // REDIS_TLS_SERVER_NAME; empty: the host's
  bool insecure = false;         // REDIS_TLS_INSECURE: any certificate will do
  bool only_1_3 = false;         // CORDUM_TLS_MIN_VERSION=1.3
};

}  // namespace fairlead::store::redis
