#include "store/cursor.h"

#include <charconv>

#include <fmt/core.h>

namespace fairlead::store {

bool is_paged(Query::By by) {
  return by != Query::By::kDeadline && by != Query::By::kDue && by != Query::By::kUnpublished;
}

Position position_of(const job::Record& record, Query::By by) {
  WallTime at = by == Query::By::kTrace ? record.created_at : record.updated_at;
  return {at, record.id.str(), job::is_terminal(record.state)};
}

Position position_of(const DeadLetter& entry) {
  return {entry.created_at, entry.job.str(), true};
}

std::string to_cursor(const Position& position) {
  return fmt::format("{}{}.{}", position.ended ? 'e' : 'l', to_micros(position.at), position.id);
}

std::optional<Position> parse_cursor(std::string_view cursor) {
  size_t dot = cursor.find('.');
  if (dot == cursor.npos || (cursor[0] != 'e' && cursor[0] != 'l')) return std::nullopt;
  int64_t micros = 0;
  auto [end, error] = std::from_chars(cursor.data() + 1, cursor.data() + dot, micros);
  if (error != std::errc{} || end != cursor.data() + dot) return std::nullopt;
  return Position{wall_time_from_micros(micros), std::string(cursor.substr(dot + 1)),
                  cursor[0] == 'e'};
}

}  // namespace fairlead::store
