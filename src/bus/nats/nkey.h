// Nkeys: Ed25519 keys as NATS writes them, in base32 with a prefix and a checksum.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::bus::nats {

// "U…", the public key of a user's seed "SU…".
Result<std::string> nkey_public(std::string_view seed);

}  // namespace fairlead::bus::nats
