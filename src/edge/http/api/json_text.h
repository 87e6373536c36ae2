// JSON that is checked and copied, and not built: what callers and workers send may hold a million
// values in a few bytes each, and building those takes a hundred times as long as reading them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::http {

struct JsonOutline {
  size_t values = 0;  // however deep; not counted: those within `member`
  // The value of the member that was asked for, within the text; empty when there is none.
  std::string_view member;
};

// Walks over a whole JSON text: well-formed UTF-8, of at most kJsonDepthMax levels. Finds the
// outermost member of that name, which may be there once. The error says what is wrong and at which
// byte.
Result<JsonOutline> outline_of(std::string_view text, std::string_view member = {});

bool is_json(std::string_view text);

// The same value without blanks and without escapes that need not be: what is looked for in it
// cannot hide behind them. Numbers stay as they were written. REQUIRES: is_json(text).
std::string plain_json(std::string_view text);

}  // namespace fairlead::http
