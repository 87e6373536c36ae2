#include "edge/http/api/json_text.h"

#include <fmt/core.h>

#include "base/text.h"
#include "edge/http/http_limits.h"

namespace fairlead::http {

namespace {

// Readers that make numbers of them take no more.
constexpr size_t kExponentDigitsMax = 9;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The four digits of \uXXXX; -1 when they are none.
int code_unit(std::string_view digits) {
  if (digits.size() < 4) return -1;
  int unit = 0;
  for (char c : digits.substr(0, 4)) {
    const int value = hex_value(c);
    if (value < 0) return -1;
    unit = unit * 16 + value;
  }
  return unit;
}

bool is_high_surrogate(int unit) {
  return unit >= 0xd800 && unit < 0xdc00;
}

bool is_low_surrogate(int unit) {
  return unit >= 0xdc00 && unit < 0xe000;
}

void append_utf8(std::string& out, int code) {
  auto put = [&](int byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

// Each function steps over what it is named after; false: it is not there.
class Walk {
 public:
  Walk(std::string_view text, std::string_view member) : text_(text), member_(member) {}

  bool all() {
    if (!value(0)) return false;
    blanks();
    if (at_ < text_.size()) return fail("something follows the end");
    return true;
  }

  JsonOutline outline() const { return {values_, found_}; }
  const std::string& problem() const { return problem_; }
  size_t at() const { return at_; }

 private:
  bool fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }
  bool syntax() { return fail(at_ < text_.size() ? "syntax error" : "it ends too early"); }
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (here() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  bool value(size_t depth) {
    blanks();
    ++values_;
    switch (here()) {
      case '{':
        return object(depth + 1);
      case '[':
        return array(depth + 1);
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  bool object(size_t depth) {
    if (depth > limits::kJsonDepthMax) return fail("too deep");
    ++at_;
    blanks();
    if (take('}')) return true;
    do {
      blanks();
      const size_t name = at_;
      if (!string()) return false;
      const bool wanted = depth == 1 && is_wanted(text_.substr(name, at_ - name));
      blanks();
      if (!take(':')) return syntax();
      blanks();
      if (!(wanted ? wanted_value() : value(depth))) return false;
      blanks();
    } while (take(','));
    return take('}') || syntax();
  }

  bool array(size_t depth) {
    if (depth > limits::kJsonDepthMax) return fail("too deep");
    ++at_;
    blanks();
    if (take(']')) return true;
    do {
      if (!value(depth)) return false;
      blanks();
    } while (take(','));
    return take(']') || syntax();
  }

  bool is_wanted(std::string_view name) const {
    if (member_.empty()) return false;
    const std::string_view within = name.substr(1, name.size() - 2);
    if (within.find('\\') == within.npos) return within == member_;
    const std::string plain = plain_json(name);
    return std::string_view(plain).substr(1, plain.size() - 2) == member_;
  }

  bool wanted_value() {
    if (!found_.empty()) return fail(fmt::format("{} is there twice", member_));
    const size_t values = values_;
    const size_t begin = at_;
    if (!value(1)) return false;
    found_ = text_.substr(begin, at_ - begin);
    values_ = values;
    return true;
  }

  bool string() {
    if (!take('"')) return syntax();
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < ' ') return syntax();
      if (c == '\\' && !escape()) return syntax();
    }
    return syntax();
  }

  // Leaves its last byte.
  bool escape() {
    ++at_;
    if (here() != 'u') return std::string_view("\"\\/bfnrt").find(here()) != std::string_view::npos;
    const int unit = code_unit(text_.substr(at_ + 1));
    if (unit < 0 || is_low_surrogate(unit)) return false;
    at_ += 4;
    if (!is_high_surrogate(unit)) return true;
    if (text_.substr(at_ + 1, 2) != "\\u" || !is_low_surrogate(code_unit(text_.substr(at_ + 3)))) {
      return false;
    }
    at_ += 6;
    return true;
  }

  bool word(std::string_view expected) {
    if (text_.substr(at_, expected.size()) != expected) return syntax();
    at_ += expected.size();
    return true;
  }

  bool digits() {
    if (!is_digit(here())) return syntax();
    while (is_digit(here())) ++at_;
    return true;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (!take('e') && !take('E')) return true;
    if (!take('+')) take('-');
    const size_t exponent = at_;
    if (!digits()) return false;
    return at_ - exponent <= kExponentDigitsMax || fail("a number is too large");
  }

  const std::string_view text_;
  const std::string_view member_;
  size_t at_ = 0;
  size_t values_ = 0;
  std::string_view found_;
  std::string problem_;
};

// Appends one escape in its shortest form; tells its length.
size_t append_escape(std::string& out, std::string_view escape) {
  if (escape[1] != 'u') {
    if (escape[1] != '/') out += '\\';
    out += escape[1];
    return 2;
  }
  int code = code_unit(escape.substr(2));
  size_t length = 6;
  if (is_high_surrogate(code)) {
    code = 0x10000 + ((code - 0xd800) << 10) + (code_unit(escape.substr(8)) - 0xdc00);
    length = 12;
  }
  if (code < ' ') {
    out += escape.substr(0, length);
  } else {
    if (code == '"' || code == '\\') out += '\\';
    append_utf8(out, code);
  }
  return length;
}

}  // namespace

Result<JsonOutline> outline_of(std::string_view text, std::string_view member) {
  if (!is_utf8(text)) return fairlead::fail(ErrorCode::kInvalid, "it is not UTF-8");
  Walk walk(text, member);
  if (walk.all()) return walk.outline();
  return fairlead::fail(ErrorCode::kInvalid,
                        fmt::format("{} at byte {}", walk.problem(), walk.at()));
}

bool is_json(std::string_view text) {
  return is_utf8(text) && Walk(text, {}).all();
}

std::string plain_json(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (in_string && c == '\\') {
      i += append_escape(out, text.substr(i));
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (in_string || !is_blank(c)) out += c;
    ++i;
  }
  return out;
}

}  // namespace fairlead::http
