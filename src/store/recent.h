// A page of Query::By::kRecent: the live jobs and the ended ones are looked through apart, each as
// far as it takes, and put together here.
#pragma once

#include <optional>
#include <vector>

#include "store/cursor.h"
#include "store/store.h"

namespace fairlead::store {

struct RecentPart {
  std::vector<job::Record> records;  // most recently changed first
  size_t visited = 0;
  // Where it stopped; nothing is known of what is behind. None: there is no more.
  std::optional<Position> stopped;
};

Page merge_recent(RecentPart live, RecentPart ended, size_t limit);

}  // namespace fairlead::store
