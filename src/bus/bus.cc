#include "bus/bus.h"

#include <fmt/format.h>

namespace fairlead::bus {

namespace {

// The text before the first dot; `rest` becomes the text behind it, or nothing after the last
// token.
std::string_view next_token(std::string_view& rest, bool& last) {
  size_t dot = rest.find('.');
  last = dot == std::string_view::npos;
  std::string_view token = rest.substr(0, dot);
  rest = last ? std::string_view{} : rest.substr(dot + 1);
  return token;
}

// Bytes above ASCII are let through: names in other scripts are names.
bool is_plain(unsigned char byte) {
  return byte > ' ' && byte != 0x7f && byte != '*' && byte != '>';
}

enum class Wildcards { kForbidden, kAllowed };

Result<void> validate(std::string_view text, Wildcards wildcards) {
  auto refuse = [](std::string_view why) {
    return fail(ErrorCode::kInvalid, fmt::format("subject {}", why));
  };
  if (text.empty()) return refuse("is empty");
  if (text.size() > limits::kSubjectBytesMax) return refuse("is too long");
  for (bool last = false; !last;) {
    std::string_view token = next_token(text, last);
    if (token.empty()) return refuse("has an empty token");
    if (wildcards == Wildcards::kAllowed) {
      if (token == "*" || (token == ">" && last)) continue;
    }
    for (char byte : token) {
      if (!is_plain(static_cast<unsigned char>(byte))) {
        return refuse("has a blank, a control byte or a misplaced wildcard");
      }
    }
  }
  return {};
}

}  // namespace

bool is_durable(std::string_view subject) {
  return subject == kSubmitSubject || subject == kResultSubject || subject == kCancelSubject ||
         subject == kDeadLetterSubject;
}

Result<void> validate_subject(std::string_view subject) {
  return validate(subject, Wildcards::kForbidden);
}

Result<void> validate_pattern(std::string_view pattern) {
  return validate(pattern, Wildcards::kAllowed);
}

bool matches(std::string_view pattern, std::string_view subject) {
  for (bool pattern_last = false, subject_last = false;;) {
    std::string_view wanted = next_token(pattern, pattern_last);
    if (wanted == ">" && pattern_last) return true;
    if (std::string_view token = next_token(subject, subject_last);
        wanted != "*" && wanted != token) {
      return false;
    }
    if (pattern_last || subject_last) return pattern_last && subject_last;
  }
}

}  // namespace fairlead::bus
