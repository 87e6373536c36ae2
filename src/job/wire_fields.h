// Protobuf's wire form, read and written in place, without making messages of it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace fairlead::job {

// Walks the length-delimited fields of a protobuf message and steps over all others.
class WireFields {
 public:
  explicit WireFields(std::string_view message) : rest_(message) {}

  // Goes to the next field; false at the end and at the first malformed byte.
  bool next() {
    int open_groups = 0;
    while (!rest_.empty()) {
      uint64_t tag = 0;
      if (!take_varint(kTagBytesMax, tag)) return fail();
      number_ = static_cast<uint32_t>(tag) >> 3;
      if (number_ == 0) return fail();
      uint64_t size = 0;
      switch (tag & 7) {
        case kVarint:
          if (!take_varint(kVarintBytesMax, size)) return fail();
          break;
        case kFixed64:
          if (!take_bytes(8)) return fail();
          break;
        case kFixed32:
          if (!take_bytes(4)) return fail();
          break;
        case kBytes:
          if (!take_varint(kTagBytesMax, size) || !take_bytes(size)) return fail();
          if (open_groups == 0) return true;
          break;
        case kGroupBegin:
          ++open_groups;
          break;
        case kGroupEnd:
          if (--open_groups < 0) return fail();
          break;
        default:
          return fail();
      }
    }
    return open_groups == 0 ? false : fail();
  }

  uint32_t number() const { return number_; }
  std::string_view bytes() const { return bytes_; }
  bool malformed() const { return malformed_; }

 private:
  enum WireType { kVarint, kFixed64, kBytes, kGroupBegin, kGroupEnd, kFixed32 };
  static constexpr int kTagBytesMax = 5;
  static constexpr int kVarintBytesMax = 10;

  bool fail() {
    malformed_ = true;
    return false;
  }

  bool take_varint(int bytes_max, uint64_t& value) {
    for (int i = 0; i < bytes_max && !rest_.empty(); ++i) {
      auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool take_bytes(uint64_t size) {
    if (size > rest_.size()) return false;
    bytes_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view rest_;
  uint32_t number_ = 0;
  std::string_view bytes_;
  bool malformed_ = false;
};

// Appends a field that holds a message whose bytes are the given ones in a row. Of a field that
// stands in several of them the last counts; maps and messages are merged.
void append_message(std::string& out, uint32_t number,
                    std::initializer_list<std::string_view> pieces);

}  // namespace fairlead::job
