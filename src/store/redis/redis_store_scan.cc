// RedisStore::scan, page by page, and retention.
#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "store/cursor.h"
#include "store/redis/arguments.h"
#include "store/redis/job_fields.h"
#include "store/redis/redis_store.h"

namespace fairlead::store::redis {

namespace {

using By = Query::By;

std::string index_of(job::State state) {
  return "job:index:" + lower(job::to_string(state));
}

// The sorted sets that a query goes through, and how.
struct Walk {
  std::vector<std::string> sets;
  bool forwards = true;
  bool by_state = false;  // a set says the state of its jobs
  bool live_only = false;
};

Walk walk_of(const Query& query) {
  Walk walk;
  switch (query.by) {
    case By::kRecent:
      if (!query.only.worker.empty()) {
        walk.forwards = false;
        walk.sets = {"worker:jobs:" + query.only.worker,
                     "fairlead:slots:worker:" + query.only.worker};
        break;
      }
      [[fallthrough]];
    case By::kEnded:
      walk.forwards = false;
      walk.by_state = true;
      for (job::State state : job::kAllStates) {
        const bool wanted =
            query.by == By::kRecent ? query.only.takes(state) : job::is_terminal(state);
        if (wanted) walk.sets.push_back(index_of(state));
      }
      break;
    case By::kState:
      walk.by_state = true;
      if (auto state = job::parse_state(query.text)) walk.sets.push_back(index_of(*state));
      break;
    case By::kWorker:
      walk.live_only = true;
      walk.sets.push_back("fairlead:slots:worker:" + query.text);
      break;
    case By::kDeadline:
      walk.live_only = true;
      walk.sets.emplace_back("job:deadline");
      break;
    case By::kDue:
      walk.live_only = true;
      walk.sets.emplace_back("fairlead:due");
      break;
    case By::kUnpublished:
      walk.live_only = true;
      walk.sets.emplace_back("fairlead:unpublished");
      break;
    case By::kTenant:
    case By::kTrace:
      break;  // those are no sorted sets
  }
  return walk;
}

// Fields of the hash of a job, each with the value that it must have.
std::vector<std::string> wanted_fields(const Only& only) {
  std::vector<std::string> fields;
  auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) fields.insert(fields.end(), {name, value});
  };
  add("tenant", only.tenant);
  add("topic", only.topic);
  add("team", only.team);
  return fields;
}

std::string bound_of(const Query& query, bool forwards, WallTime now) {
  if (!forwards) {
    return query.only.since == WallTime::min() ? "-inf"
                                               : std::to_string(to_micros(query.only.since));
  }
  return is_paged(query.by) ? "+inf" : std::to_string(to_micros(now - query.age));
}

Page page_of(Reply& reply, const Walk& walk, const Query& query, std::vector<Unreadable>& passed) {
  Page page;
  std::vector<Reply>& visited = reply.at(0).items;
  page.visited = visited.size();
  for (Reply& one : visited) {
    if (one.at(2).none()) continue;
    if (page.records.size() == query.limit) break;
    JobId job(one.at(0).text);
    auto found = found_job(job, std::move(one.at(2)), false);
    if (!found) {
      passed.push_back({job.str(), found.error().message});
      continue;
    }
    if (walk.live_only && job::is_terminal(found->record.state)) continue;
    if (query.by == By::kRecent && !query.only.takes(found->record)) continue;
    page.records.push_back(std::move(found->record));
  }
  // A page of fewer records than were visited may be short and yet not the last.
  const bool more = reply.at(1).number() == 1 || page.records.size() == query.limit;
  if (is_paged(query.by) && more && !visited.empty()) {
    Reply& last = visited.back();
    page.next = to_cursor({wall_time_from_micros(last.at(1).number()), last.at(0).text, false});
  }
  return page;
}

}  // namespace

Answer<Page> RedisStore::scan(Query query) {
  query.limit = std::min(query.limit, limits::kScanMax);
  if (query.limit == 0) return Page{};
  if (query.by == By::kTenant || query.by == By::kTrace) return scan_members(std::move(query));
  Walk walk = walk_of(query);
  std::optional<Position> behind = parse_cursor(query.cursor);
  Command scan = script(Script::kScan);
  add_list(scan, walk.sets);
  add_flag(scan, walk.forwards);
  scan.add(walk.by_state ? "1" : "");
  add_time(scan, behind ? std::optional(behind->at) : std::nullopt);
  scan.add(behind ? behind->id : std::string());
  scan.add(bound_of(query, walk.forwards, clock_.wall()));
  // Those that cannot be read stay in what is over: others are found behind them.
  const size_t most = std::min(query.limit + passed_over_[query.by], limits::kRedisVisitsMax);
  scan.add(most);
  const std::vector<std::string> wanted = wanted_fields(query.only);
  add_list(scan, wanted);
  scan.add(wanted.empty() ? most : std::max(most, limits::kRedisVisitsMax));
  return ask<Page>(scan, [self = std::weak_ptr(self_), walk = std::move(walk),
                          query = std::move(query)](Reply reply) {
    std::vector<Unreadable> passed;
    Page page = page_of(reply, walk, query, passed);
    if (auto alive = self.lock()) {
      if (!is_paged(query.by)) (*alive)->passed_over_[query.by] = passed.size();
      (*alive)->tell_unreadable(passed);
    }
    return Result<Page>(std::move(page));
  });
}

namespace {

struct Member {
  WallTime at;
  std::string id;
  auto operator<=>(const Member&) const = default;
};

// The members behind the cursor, in order, as many as a page holds.
std::vector<Member> page_of_members(Reply& reply, const Query& query) {
  std::vector<Member> members;
  std::optional<Position> behind = parse_cursor(query.cursor);
  for (size_t i = 0; i + 1 < reply.items.size(); i += 2) {
    Member member{wall_time_from_micros(reply.items[i + 1].number()), reply.items[i].take_text()};
    if (!behind || Member{behind->at, behind->id} < member) members.push_back(std::move(member));
  }
  size_t count = std::min(query.limit, members.size());
  std::ranges::partial_sort(members, members.begin() + static_cast<ptrdiff_t>(count));
  members.resize(count);
  return members;
}

Page page_of_records(Reply& reply, const std::vector<Member>& members, bool live_only, size_t limit,
                     std::vector<Unreadable>& passed) {
  Page page;
  for (Reply& item : reply.items) {
    JobId job(item.at(0).text);
    auto found = found_job(job, std::move(item.at(1)), false);
    if (!found) {
      passed.push_back({job.str(), found.error().message});
      continue;
    }
    if (live_only && job::is_terminal(found->record.state)) continue;
    page.records.push_back(std::move(found->record));
  }
  if (members.size() == limit) {
    page.next = to_cursor({members.back().at, members.back().id, false});
  }
  return page;
}

}  // namespace

// The Go services keep the jobs of a tenant and of a trace in sets without order: the members are
// read with their times, and then the records of the page.
Answer<Page> RedisStore::scan_members(Query query) {
  bool trace = query.by == By::kTrace;
  Command members = script(Script::kMembers);
  members.add((trace ? "trace:" : "job:tenant:active:") + query.text);
  add_flag(members, trace);
  members.add(limits::kScanVisitsMax);
  Completer<Result<Page>> completer;
  Answer<Page> answer = completer.future();
  client_->call(members, [self = std::weak_ptr(self_), query = std::move(query), trace,
                          completer = std::move(completer)](Result<Reply> reply) mutable {
    auto alive = self.lock();
    if (!alive) return;
    if (!reply) return completer.complete(std::unexpected(reply.error()));
    std::vector<Member> found = page_of_members(*reply, query);
    if (found.empty()) return completer.complete(Page{});
    Command records = (*alive)->script(Script::kRecords);
    records.add(found.size());
    for (const Member& member : found) records.add(member.id);
    (*alive)->client_->call(records,
                            [self, found = std::move(found), trace, limit = query.limit,
                             completer = std::move(completer)](Result<Reply> second) mutable {
                              if (!second)
                                return completer.complete(std::unexpected(second.error()));
                              std::vector<Unreadable> passed;
                              Page page = page_of_records(*second, found, !trace, limit, passed);
                              if (auto store = self.lock()) (*store)->tell_unreadable(passed);
                              completer.complete(std::move(page));
                            });
  });
  return answer;
}

// Each is told of once, or again after many others.
void RedisStore::tell_unreadable(const std::vector<Unreadable>& passed) {
  for (const Unreadable& one : passed) {
    if (told_unreadable_.size() >= limits::kRedisUnreadableRemembered) told_unreadable_.clear();
    if (!told_unreadable_.insert(one.name).second) continue;
    log_.error("passed over what cannot be read in Redis",
               {{"name", one.name}, {"error", one.error}});
  }
}

Answer<size_t> RedisStore::retire(WallTime now, size_t limit) {
  Command retire = script(Script::kRetire);
  retire.add(now - options_.ended_job_ttl);
  retire.add(seconds_text(now - options_.dead_letter_ttl));
  retire.add(limit);
  retire.add(now - options_.adopted_wait);
  retire.add(retired_to_.live_index);
  retire.add(retired_to_.live_after);
  return ask<size_t>(retire, [self = std::weak_ptr(self_)](Reply reply) {
    if (auto alive = self.lock()) {
      (*alive)->retired_to_ = {reply.at(1).number(), reply.at(2).take_text()};
    }
    return Result<size_t>(reply.at(0).unsigned_number());
  });
}

}  // namespace fairlead::store::redis
