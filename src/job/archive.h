// Structs as tagged fields, the form that records are stored in. A struct names its fields once,
// for writing and reading, in ascending order of tags:
//
//   void fields(auto& archive, Like<Point> auto& point) {
//     archive(1, point.x);
//     archive(2, point.y);
//   }
//
// A field is its key, (tag << 1 | kind), and its value: a varint, or a length and that many bytes.
// A list is the same tag several times; another struct is bytes that hold its fields. Defaults
// take no bytes, unknown tags are skipped, and a tag is never used again for something else.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace fairlead::job {

// A T, or a const T.
template <class T, class Bare>
concept Like = std::same_as<std::remove_const_t<T>, Bare>;

inline constexpr uint64_t kVarintKind = 0;
inline constexpr uint64_t kBytesKind = 1;

// Scalars become unsigned numbers and back. from_number says no to what the type cannot hold; for
// an enum, last_of(T{}) gives its last value, and unknown_of(T{}), where there is one, what stands
// for values that only later programs know.

template <class T>
  requires std::is_enum_v<T>
uint64_t to_number(T value) {
  return static_cast<uint64_t>(value);
}
template <class T>
  requires std::is_enum_v<T>
bool from_number(uint64_t number, T& value) {
  const bool known = number <= static_cast<uint64_t>(last_of(T{}));
  if constexpr (requires { unknown_of(T{}); }) {
    value = known ? static_cast<T>(number) : unknown_of(T{});
    return true;
  } else {
    value = static_cast<T>(number);
    return known;
  }
}

template <std::unsigned_integral T>
uint64_t to_number(T value) {
  return value;
}
template <std::unsigned_integral T>
bool from_number(uint64_t number, T& value) {
  value = static_cast<T>(number);
  return value == number;
}

// Small negative numbers are short too: 0, -1, 1, -2, … become 0, 1, 2, 3, …
template <std::signed_integral T>
uint64_t to_number(T value) {
  return (static_cast<uint64_t>(int64_t{value}) << 1) ^ static_cast<uint64_t>(int64_t{value} >> 63);
}
template <std::signed_integral T>
bool from_number(uint64_t number, T& value) {
  auto wide = static_cast<int64_t>((number >> 1) ^ (0 - (number & 1)));
  value = static_cast<T>(wide);
  return value == wide;
}

inline uint64_t to_number(WallTime time) {
  return to_number(to_micros(time));
}
inline bool from_number(uint64_t number, WallTime& time) {
  int64_t micros = 0;
  from_number(number, micros);
  time = wall_time_from_micros(micros);
  return true;
}

template <class Tag>
uint64_t to_number(Number<Tag> value) {
  return value.value();
}
template <class Tag>
bool from_number(uint64_t number, Number<Tag>& value) {
  value = Number<Tag>(number);
  return true;
}

template <class T>
concept Scalar = requires(T value) { to_number(value); };

// Appends to `out`.
class FieldWriter {
 public:
  explicit FieldWriter(std::string& out) : out_(out) {}

  template <class T>
  void operator()(uint64_t tag, const T& value) {
    if (value != T{}) put(tag, value);
  }
  template <class T>
  void operator()(uint64_t tag, const std::optional<T>& value) {
    if (value) put(tag, *value);
  }
  template <class T>
  void operator()(uint64_t tag, const std::vector<T>& values) {
    for (const T& value : values) put(tag, value);
  }

  // A length, then the fields of `message`.
  template <class T>
  void put_message(const T& message) {
    size_t start = out_.size();
    out_.push_back(0);
    fields(*this, message);
    size_t length = out_.size() - start - 1;
    if (length < 0x80) {
      out_[start] = static_cast<char>(length);
      return;
    }
    char longer[kVarintBytesMax];
    out_.replace(start, 1, longer, write_varint(length, longer));
  }

 private:
  static constexpr size_t kVarintBytesMax = 10;

  template <Scalar T>
  void put(uint64_t tag, const T& value) {
    put_varint(tag << 1 | kVarintKind);
    put_varint(to_number(value));
  }
  void put(uint64_t tag, const std::string& value) {
    put_varint(tag << 1 | kBytesKind);
    put_varint(value.size());
    out_ += value;
  }
  template <class Tag>
  void put(uint64_t tag, const Name<Tag>& value) {
    put(tag, value.str());
  }
  template <class T>
  void put(uint64_t tag, const T& message) {
    put_varint(tag << 1 | kBytesKind);
    put_message(message);
  }

  void put_varint(uint64_t number) {
    char buffer[kVarintBytesMax];
    out_.append(buffer, write_varint(number, buffer));
  }
  static size_t write_varint(uint64_t number, char* to) {
    size_t size = 0;
    for (; number >= 0x80; number >>= 7) to[size++] = static_cast<char>(number | 0x80);
    to[size++] = static_cast<char>(number);
    return size;
  }

  std::string& out_;
};

// Adds up the bytes of all texts.
class TextCounter {
 public:
  template <class T>
  void operator()(uint64_t, const T& value) {
    add(value);
  }
  template <class T>
  void operator()(uint64_t, const std::optional<T>& value) {
    if (value) add(*value);
  }
  template <class T>
  void operator()(uint64_t, const std::vector<T>& values) {
    for (const T& value : values) add(value);
  }

  size_t bytes() const { return bytes_; }

 private:
  template <Scalar T>
  void add(const T&) {}
  void add(const std::string& value) { bytes_ += value.size(); }
  template <class Tag>
  void add(const Name<Tag>& value) {
    add(value.str());
  }
  template <class T>
  void add(const T& message) {
    fields(*this, message);
  }

  size_t bytes_ = 0;
};

// Takes a varint off the front of `bytes`; false when there is none whole.
inline bool take_varint(std::string_view& bytes, uint64_t& number) {
  number = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    number |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Walks the bytes and the list of fields side by side: both ascend. Bytes are not trusted: after
// the first that is malformed nothing more is read, and memory stays in proportion to them.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) { advance(); }

  template <class T>
  void operator()(uint64_t tag, T& value) {
    if (seek(tag)) get(value);
  }
  template <class T>
  void operator()(uint64_t tag, std::optional<T>& value) {
    if (seek(tag)) get(value.emplace());
  }
  template <class T>
  void operator()(uint64_t tag, std::vector<T>& values) {
    while (seek(tag)) get(values.emplace_back());
  }

  // Whether everything, what is left included, was well formed.
  bool finish() {
    seek(kEnd);
    return !malformed_;
  }

 private:
  static constexpr uint64_t kEnd = std::numeric_limits<uint64_t>::max();

  // Skips unknown fields before `tag`; says whether that one is next.
  bool seek(uint64_t tag) {
    while (tag_ < tag) advance();
    return tag_ == tag;
  }

  // Takes the next field off the bytes.
  void advance() {
    if (rest_.empty()) {
      tag_ = kEnd;
      return;
    }
    uint64_t key = 0;
    if (!take_varint(rest_, key) || !take_varint(rest_, number_)) return fail();
    if (key >> 1 < tag_) return fail();
    tag_ = key >> 1;
    kind_ = key & 1;
    if (kind_ == kVarintKind) return;
    if (number_ > rest_.size()) return fail();
    bytes_ = rest_.substr(0, number_);
    rest_.remove_prefix(number_);
  }

  template <Scalar T>
  void get(T& value) {
    if (kind_ != kVarintKind || !from_number(number_, value)) return fail();
    advance();
  }
  void get(std::string& value) {
    if (kind_ != kBytesKind) return fail();
    value = bytes_;
    advance();
  }
  template <class Tag>
  void get(Name<Tag>& value) {
    if (kind_ != kBytesKind) return fail();
    value = Name<Tag>(bytes_);
    advance();
  }
  template <class T>
  void get(T& message) {
    if (kind_ != kBytesKind) return fail();
    FieldReader inner(bytes_);
    fields(inner, message);
    if (!inner.finish()) return fail();
    advance();
  }

  void fail() {
    malformed_ = true;
    rest_ = {};
    tag_ = kEnd;
  }

  std::string_view rest_;
  uint64_t tag_ = 0;
  uint64_t kind_ = kVarintKind;
  uint64_t number_ = 0;
  std::string_view bytes_;
  bool malformed_ = false;
};

}  // namespace fairlead::job
