#include "scheduler/go_duration.h"

#include <fmt/core.h>

namespace fairlead::scheduler {

std::string go_duration(Duration duration) {
  int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  int64_t hours = seconds / 3600;
  int64_t minutes = seconds / 60 % 60;
  if (hours > 0) return fmt::format("{}h{}m{}s", hours, minutes, seconds % 60);
  if (minutes > 0) return fmt::format("{}m{}s", minutes, seconds % 60);
  return fmt::format("{}s", seconds);
}

}  // namespace fairlead::scheduler
