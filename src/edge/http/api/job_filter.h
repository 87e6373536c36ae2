// Which jobs a list or a bulk call is about, and the walk over the store that finds them.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "edge/http/api/backend.h"
#include "edge/http/api/fields.h"
#include "edge/http/api/message.h"
#include "job/record.h"

namespace fairlead::http {

struct JobFilter {
  std::set<job::State> states;  // empty: any
  std::string topic;
  std::optional<TenantId> tenant;
  std::string team;
  std::string trace;
  std::optional<WallTime> updated_after;
  std::optional<WallTime> updated_before;

  bool takes(const job::Record& record) const;
};

// Of a query: state (repeated or separated by commas), topic, tenant, team, trace_id,
// updated_after, updated_before. A caller bound to a tenant gets that one.
std::expected<JobFilter, Reply> read_filter(const Request& request);
// The same names in a body.
JobFilter read_filter(Fields& fields, const Caller& caller, std::optional<Reply>& denied);

// The `cursor` of a list: what the page before gave, or a moment as a number, as older clients
// send.
std::expected<std::string, Reply> read_cursor(const Request& request);

struct JobPage {
  std::vector<job::Record> records;
  std::string next;  // empty: there are no more
};

// Most recently changed first (those of one trace oldest first), from behind `cursor`. Looks at
// about kListVisitsMax jobs at most: a page may be short, or empty, and yet not the last.
Task<Result<JobPage>> find_jobs(Backend& backend, JobFilter filter, std::string cursor,
                                size_t limit);

}  // namespace fairlead::http
