// Where a Redis is, as its URL says:
//
//   redis://[user[:password]@]host[:port][/database]      rediss:// the same over TLS
//   unix://[user[:password]@]/path/to/socket[?db=database]
//   redis-sentinel://[user[:password]@]host[:port][,host[:port]…]/master[/database]
//                                                         rediss-sentinel:// the same over TLS
//
// Of a query only `db`, `sentinel_username` and `sentinel_password` are looked at. User and
// password are those of the server; what the Sentinels ask for, if they do, stands in the query.
// All are percent-encoded where they must be.
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

// No password: none is shown.
struct Credentials {
  std::string user;  // may be empty with a password
  std::string password;

  bool operator==(const Credentials&) const = default;
};

struct Address {
  std::vector<Endpoint> endpoints;  // the server, or its Sentinels
  std::string master;               // what the Sentinels call it; empty: there are none
  bool tls = false;
  Credentials server;
  Credentials sentinel;
  int database = 0;

  std::string shown() const;  // without secrets
  bool operator==(const Address&) const = default;
};

// The error is one sentence that does not repeat the password.
Result<Address> parse_address(std::string_view url);

}  // namespace fairlead::store::redis
