// The commands that need the store: what their words mean.
#pragma once

#include <expected>
#include <string>

#include "edge/resp/exchange.h"
#include "edge/resp/parser.h"

namespace fairlead::edge::resp {

bool needs_store(std::string_view lower_verb);

// The request that the words ask for, or an error to tell the client. REQUIRES: needs_store(verb).
std::expected<Request, std::string> parse_request(std::string_view lower_verb, Arguments words);

// "ERR wrong number of arguments for 'get' command".
std::string wrong_count(std::string_view lower_verb);

}  // namespace fairlead::edge::resp
