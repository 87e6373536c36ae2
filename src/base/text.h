// Small text helpers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fairlead {

// Without ASCII white space at both ends.
std::string_view trim(std::string_view text);
std::string lower(std::string_view text);
// Trimmed, lower-cased, blanks left out, sorted, each once.
std::vector<std::string> normalised(const std::vector<std::string>& words);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
// Whether it is well-formed UTF-8: no overlong forms, no halves of surrogate pairs.
bool is_utf8(std::string_view text);
// The text with U+FFFD for every byte that is not part of well-formed UTF-8.
std::string well_formed(std::string text);
// At most so many bytes from its front, without half a character at the end.
std::string_view cut(std::string_view text, size_t bytes_max);

}  // namespace fairlead
