// libnats, as far as we use it. Private to this folder: its header stays out of all others.
#pragma once

#include <memory>
#include <string>

#include <nats/nats.h>

#include "base/result.h"
#include "bus/nats/settings.h"

namespace fairlead::bus::nats {

using Options = std::unique_ptr<natsOptions, decltype(&natsOptions_Destroy)>;

// What is asked of a connection to `server`, one of Settings::servers or one that a server told us
// of. `settings` must live as long as the connection.
Result<Options> connection_options(const Settings& settings, const std::string& server);

// What libnats says about the last call that failed on this thread.
std::string last_error(natsStatus status);

// The headers of a message as a block; empty: none.
std::string header_block(natsMsg* message);

}  // namespace fairlead::bus::nats
