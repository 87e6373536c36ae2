// Files of pools with any text in them.
#include <string_view>

#include "base/check.h"
#include "routing/pool_map.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto map = fairlead::routing::parse_pool_map(text);
  if (!map) fairlead::check(!map.error().message.empty(), "an error says what is wrong");
  return 0;
}
