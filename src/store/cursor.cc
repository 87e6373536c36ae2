#include "store/cursor.h"

#include <charconv>

#include <fmt/core.h>

namespace fairlead::store {

Position position_of(const job::Record& record, Query::By by) {
  auto time = [&] {
    switch (by) {
      case Query::By::kTrace:
        return record.created_at;
      case Query::By::kDeadline:
        return record.deadline.value_or(WallTime{});
      case Query::By::kDue:
        return record.due.value_or(WallTime{});
      case Query::By::kUnpublished:
        return record.dispatched_at;
      case Query::By::kRecent:
      case Query::By::kState:
      case Query::By::kTenant:
      case Query::By::kWorker:
      case Query::By::kEnded:
        break;
    }
    return record.updated_at;
  };
  return {time(), record.id.str(), job::is_terminal(record.state)};
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
