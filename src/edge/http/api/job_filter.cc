#include "edge/http/api/job_filter.h"

#include <fmt/core.h>

#include "base/text.h"
#include "edge/http/api/text.h"
#include "store/cursor.h"

namespace fairlead::http {

namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::optional<std::string> add_states(const std::vector<std::string>& names, JobFilter& filter) {
  for (const std::string& name : names) {
    auto state = job::parse_state(upper(name));
    if (!state) {
      std::string all;
      for (job::State known : job::kAllStates) {
        all += (all.empty() ? "" : ", ") + std::string(job::to_string(known));
      }
      return fmt::format("state is \"{}\", must be one of {}", name.substr(0, 64), all);
    }
    filter.states.insert(*state);
  }
  return std::nullopt;
}

// The tenant that is looked at: the one named, if the caller sees it, or the caller's own.
std::expected<std::optional<TenantId>, Reply> tenant_for(const Caller& caller,
                                                         std::string_view named) {
  if (named.empty()) {
    if (caller.all_tenants) return std::nullopt;
    return caller.tenant;
  }
  TenantId tenant(named);
  if (!caller.sees(tenant)) {
    return std::unexpected(problem(403, "tenant access denied", "tenant_access_denied"));
  }
  return tenant;
}

Reply invalid(std::string_view message) {
  return problem(400, message, "invalid_request");
}

}  // namespace

bool JobFilter::takes(const job::Record& record) const {
  return (states.empty() || states.contains(record.state)) &&
         (topic.empty() || topic == record.topic.str()) && (!tenant || *tenant == record.tenant) &&
         (team.empty() || team == record.team) && (trace.empty() || trace == record.trace.str()) &&
         (!updated_after || record.updated_at >= *updated_after) &&
         (!updated_before || record.updated_at <= *updated_before);
}

std::expected<JobFilter, Reply> read_filter(const Request& request) {
  JobFilter filter;
  if (auto wrong = add_states(request.parameters_of("state"), filter)) {
    return std::unexpected(invalid(*wrong));
  }
  filter.topic = request.parameter("topic");
  filter.team = request.parameter("team");
  filter.trace = request.parameter("trace_id");
  auto tenant = tenant_for(request.caller, request.parameter("tenant"));
  if (!tenant) return std::unexpected(std::move(tenant.error()));
  filter.tenant = *tenant;
  auto read_time = [&](const char* name, Bound bound,
                       std::optional<WallTime>& into) -> std::optional<std::string> {
    std::string_view text = request.parameter(name);
    if (text.empty()) return std::nullopt;
    into = parse_time(text, bound);
    if (into) return std::nullopt;
    return fmt::format("{} is \"{}\", must be a time: a number since 1970 or 2026-01-02T03:04:05Z",
                       name, text.substr(0, 64));
  };
  auto wrong = read_time("updated_after", Bound::kLower, filter.updated_after);
  if (!wrong) wrong = read_time("updated_before", Bound::kUpper, filter.updated_before);
  if (wrong) return std::unexpected(invalid(*wrong));
  return filter;
}

JobFilter read_filter(Fields& fields, const Caller& caller, std::optional<Reply>& denied) {
  JobFilter filter;
  std::vector<std::string> states;
  if (const json::value* state = fields.any("state"); state && state->is_string()) {
    for (std::string_view part : split(std::string_view(state->get_string()), ',')) {
      states.emplace_back(trim(part));
    }
  } else {
    states = fields.texts("state", job::kAllStates.size(), 64);
  }
  if (auto wrong = add_states(states, filter)) fields.refuse(*wrong);
  filter.topic = fields.text("topic", limits::kTopicBytesMax);
  filter.team = fields.text("team");
  filter.trace = fields.text("trace_id");
  filter.updated_after = fields.time("updated_after", false);
  filter.updated_before = fields.time("updated_before", true);
  auto tenant = tenant_for(caller, fields.text("tenant", limits::kTenantBytesMax));
  if (tenant) {
    filter.tenant = *tenant;
  } else {
    denied = std::move(tenant.error());
  }
  return filter;
}

std::expected<std::string, Reply> read_cursor(const Request& request) {
  std::string cursor(request.parameter("cursor"));
  bool number = !cursor.empty() && cursor.find_first_not_of("0123456789") == cursor.npos;
  if (number) {
    auto at = parse_time(cursor, Bound::kUpper);
    if (at) return store::to_cursor({*at, {}, false});
  }
  if (!cursor.empty() && !store::parse_cursor(cursor)) {
    return std::unexpected(
        invalid("cursor must be the next_cursor of the page before, or a time as a number"));
  }
  return cursor;
}

// The store leaves out what is not asked for, through its indexes.
static store::Query recent_query(const JobFilter& filter) {
  store::Query query;
  query.only.states.assign(filter.states.begin(), filter.states.end());
  if (filter.tenant) query.only.tenant = filter.tenant->str();
  query.only.topic = filter.topic;
  query.only.team = filter.team;
  if (filter.updated_after) query.only.since = *filter.updated_after;
  if (filter.updated_before) {
    query.cursor = store::to_cursor({*filter.updated_before, {}, false});
  }
  return query;
}

Task<Result<JobPage>> find_jobs(Backend& backend, JobFilter filter, std::string cursor,
                                size_t limit) {
  store::Query query = recent_query(filter);
  if (!filter.trace.empty()) {
    query = {.by = store::Query::By::kTrace, .text = filter.trace};
  }
  if (!cursor.empty()) query.cursor = std::move(cursor);
  JobPage found;
  size_t visits = 0;
  do {
    query.limit = limit - found.records.size();
    Result<store::Page> page = co_await backend.store.scan(query);
    if (!page) co_return std::unexpected(page.error());
    visits += std::max(page->visited, page->records.size());
    for (job::Record& record : page->records) {
      if (filter.takes(record)) found.records.push_back(std::move(record));
    }
    query.cursor = std::move(page->next);
  } while (!query.cursor.empty() && found.records.size() < limit &&
           visits < limits::kListVisitsMax);
  found.next = std::move(query.cursor);
  co_return found;
}

}  // namespace fairlead::http
