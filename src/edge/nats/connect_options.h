// What a client says about itself in CONNECT.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::edge::nats {

struct ConnectOptions {
  bool verbose = true;  // as NATS: it must be turned off
  bool echo = true;
  bool headers = false;
  bool no_responders = false;
  std::string token;
  std::string user;
  std::string password;
};

Result<ConnectOptions> parse_connect_options(std::string_view json);

}  // namespace fairlead::edge::nats
