// A command for a Redis, in the form in which it goes over the wire.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"

namespace fairlead::store::redis {

class Command {
 public:
  template <class... Words>
  explicit Command(const Words&... words) {
    (add(words), ...);
  }

  void add(std::string_view word) {
    ++words_;
    put_header('$', word.size());
    body_.append(word).append("\r\n");
  }
  void add(const std::string& word) { add(std::string_view(word)); }
  void add(const char* word) { add(std::string_view(word)); }
  void add(std::integral auto number) {
    char digits[24];
    auto end = std::to_chars(digits, digits + sizeof digits, int64_t(number)).ptr;
    add(std::string_view(digits, end - digits));
  }
  template <class Tag>
  void add(const Name<Tag>& name) {
    add(std::string_view(name.str()));
  }
  template <class Tag>
  void add(Number<Tag> number) {
    add(number.value());
  }
  // Microseconds since 1970.
  void add(WallTime time) { add(to_micros(time)); }

  size_t words() const { return words_; }
  size_t bytes() const { return body_.size(); }

  // Appends its wire form.
  void write_to(std::string& out) const {
    char digits[24];
    auto end = std::to_chars(digits, digits + sizeof digits, words_).ptr;
    out.append("*").append(digits, end).append("\r\n").append(body_);
  }

 private:
  void put_header(char kind, size_t number) {
    char digits[24];
    auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    body_.append(1, kind).append(digits, end).append("\r\n");
  }

  std::string body_;
  size_t words_ = 0;
};

}  // namespace fairlead::store::redis
