// What all sessions of a listener share, whatever they speak.
#pragma once

#include <cstdint>
#include <functional>

#include "base/limits.h"
#include "edge/net/backlog.h"
#include "edge/net/credentials.h"

namespace fairlead::edge {

template <class Request>
struct CommonSessionSettings {
  Credentials credentials;
  Duration authentication_wait = limits::kAuthenticationWait;
  // Takes requests in order.
  std::function<void(Request)> hand_over;
  // Called once, when the connection has gone.
  std::function<void(uint64_t client)> gone;
  Backlog::Total backlog_of_all;
  // Bytes received from all and not yet done; listener's thread only.
  size_t undone_of_all = 0;
  bool held_up = false;  // sessions wait because that is too much
};

}  // namespace fairlead::edge
