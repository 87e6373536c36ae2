// Where a page of a scan ended. Pages that follow each other miss no record that stayed as it was;
// one that changed in between may be seen twice.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/store.h"

namespace fairlead::store {

struct Position {
  WallTime at;  // the time that the scan is ordered by
  std::string id;
  bool ended = false;

  bool operator==(const Position&) const = default;
};

// Whether pages of such a scan follow each other.
bool is_paged(Query::By by);
// REQUIRES: such a scan.
Position position_of(const job::Record& record, Query::By by);
Position position_of(const DeadLetter& entry);

std::string to_cursor(const Position& position);
// Nothing for an empty cursor, and for one that to_cursor did not make.
std::optional<Position> parse_cursor(std::string_view cursor);

}  // namespace fairlead::store
