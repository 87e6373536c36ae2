// Dead letters as the API shows and picks them.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "edge/http/api/backend.h"
#include "edge/http/api/fields.h"
#include "edge/http/api/message.h"
#include "store/change.h"

namespace fairlead::http {

json::object dead_letter_json(const store::DeadLetter& entry);

struct DeadLetterFilter {
  std::string topic;
  std::string reason_code;
  std::optional<TenantId> tenant;
  std::optional<WallTime> created_after;
  std::optional<WallTime> created_before;
  std::set<std::string> jobs;  // empty: any

  bool takes(const store::DeadLetter& entry) const;
};

struct DeadLetterPage {
  std::vector<store::DeadLetter> entries;
  std::string next;  // empty: there are no more
};

// Latest first, from behind `cursor` (store/cursor.h). Looks at no more than kListVisitsMax
// entries: a page may be short, or empty, and yet not the last.
Task<Result<DeadLetterPage>> find_dead_letters(Backend& backend, DeadLetterFilter filter,
                                               std::string cursor, size_t limit);

// Submits the job of an entry again, under an id that follows from the entry, so that doing it
// twice makes one job; then drops the entry. The id of the new job.
Task<std::expected<std::string, Reply>> retry_dead_letter(Backend& backend,
                                                          store::DeadLetter entry);

}  // namespace fairlead::http
