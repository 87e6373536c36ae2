// Where a Redis is, as its URL says:
//
//   redis://[user[:password]@]host[:port][/database]      rediss:// the same over TLS
//   unix://[user[:password]@]/path/to/socket[?db=database]
//   redis-sentinel://[user[:password]@]host[:port][,host[:port]…]/master[/database]
//                                                         rediss-sentinel:// the same over TLS
//
// Of a query only `db` is looked at. User and password are those of the server, percent-encoded
// where they must be; a Sentinel is asked without them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::store::redis {

struct Endpoint {
  std::string host;
  uint16_t port = 0;
  std::string path;  // of a socket in the file system; then there is no host

  std::string shown() const;
  bool operator==(const Endpoint&) const = default;
};

struct Address {
  std::vector<Endpoint> endpoints;  // the server, or its Sentinels
  std::string master;               // what the Sentinels call it; empty: there are none
  bool tls = false;
  std::string user;
  std::string password;
  int database = 0;

  std::string shown() const;  // without secrets
  bool operator==(const Address&) const = default;
};

// The error is one sentence that does not repeat the password.
Result<Address> parse_address(std::string_view url);

}  // namespace fairlead::store::redis
