#include "store/recent.h"

#include <algorithm>
#include <iterator>

namespace fairlead::store {

namespace {

// Whether one part goes on at `a` before the other does at `b`. Of one time the live jobs come
// before the ended.
bool comes_first(const Position& a, const Position& b) {
  return a.at != b.at ? a.at > b.at : !a.ended && b.ended;
}

Position position_of(const job::Record& record) {
  return store::position_of(record, Query::By::kRecent);
}

}  // namespace

Page merge_recent(RecentPart live, RecentPart ended, size_t limit) {
  Page page;
  page.visited = live.visited + ended.visited;
  std::merge(std::move_iterator(live.records.begin()), std::move_iterator(live.records.end()),
             std::move_iterator(ended.records.begin()), std::move_iterator(ended.records.end()),
             std::back_inserter(page.records), [](const job::Record& a, const job::Record& b) {
               return a.updated_at > b.updated_at;
             });
  // What is behind the place where either part stopped has to wait for the rest of it.
  std::optional<Position> stopped = live.stopped ? live.stopped : ended.stopped;
  if (live.stopped && ended.stopped && comes_first(*ended.stopped, *live.stopped)) {
    stopped = ended.stopped;
  }
  if (stopped) {
    auto behind = std::ranges::find_if(page.records, [&](const job::Record& record) {
      return comes_first(*stopped, position_of(record));
    });
    page.records.erase(behind, page.records.end());
  }
  if (page.records.size() >= limit) {
    page.records.resize(limit);
    if (limit > 0) stopped = position_of(page.records.back());
  }
  if (stopped) page.next = to_cursor(*stopped);
  return page;
}

}  // namespace fairlead::store
