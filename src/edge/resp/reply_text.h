// Answers as bytes, in the version of the protocol that the client chose with HELLO.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::edge::resp {

enum class Version { kTwo = 2, kThree = 3 };

std::string simple(std::string_view text);  // +OK
// `text` begins with a code: "ERR …", "NOAUTH …". Line ends in it become blanks.
std::string error(std::string_view text);
std::string number(int64_t value);
std::string bulk(std::string_view bytes);
std::string null(Version version);
// Heads; the elements follow.
std::string array(size_t elements);
std::string map(size_t pairs, Version version);

}  // namespace fairlead::edge::resp
