// Pointers to payloads, as jobs and results carry them: "redis://<key>". It is no address: whoever
// reads one looks in its own store.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::job {

// "ctx:1" of "redis://ctx:1" and of "ctx:1"; "" for a pointer to elsewhere.
inline std::string_view key_of_pointer(std::string_view pointer) {
  constexpr std::string_view kScheme = "redis://";
  if (pointer.starts_with(kScheme)) return pointer.substr(kScheme.size());
  return pointer.find("://") == pointer.npos ? pointer : std::string_view();
}

inline std::string pointer_to(std::string_view key) {
  return "redis://" + std::string(key);
}

}  // namespace fairlead::job
