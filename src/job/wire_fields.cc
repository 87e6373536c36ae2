#include "job/wire_fields.h"

namespace fairlead::job {

namespace {

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

}  // namespace

void append_message(std::string& out, uint32_t number,
                    std::initializer_list<std::string_view> pieces) {
  constexpr uint32_t kBytes = 2;
  size_t size = 0;
  for (std::string_view piece : pieces) size += piece.size();
  append_varint(out, number << 3 | kBytes);
  append_varint(out, size);
  out.reserve(out.size() + size);
  for (std::string_view piece : pieces) out += piece;
}

}  // namespace fairlead::job
