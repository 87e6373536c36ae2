// RedisStore::apply: a change as the arguments of one script, and what the script answers.
#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "job/request.h"
#include "store/redis/arguments.h"
#include "store/redis/go_json.h"
#include "store/redis/job_fields.h"
#include "store/redis/places.h"
#include "store/redis/redis_store.h"
#include "store/values.h"

namespace fairlead::store::redis {

namespace {

using job::State;

// The states that may come before one, between bars; nothing between two bars: no job.
std::string may_precede(State to) {
  std::string text = job::may_follow(std::nullopt, to) ? "||" : "|";
  for (State from : job::kAllStates) {
    if (job::may_follow(from, to)) text.append(job::to_string(from)).append("|");
  }
  return text;
}

const std::string& states_before(State to) {
  static const auto texts = [] {
    std::array<std::string, job::kAllStates.size()> made;
    for (State state : job::kAllStates) made[static_cast<size_t>(state)] = may_precede(state);
    return made;
  }();
  return texts[static_cast<size_t>(to)];
}

// The first step within the path that is not in the table. The first of all depends on what is
// stored: the script looks at that.
std::optional<Refused> forbidden_step(const Change& change) {
  const std::vector<State>& path = change.path;
  for (size_t i = 1; i < path.size(); ++i) {
    if (!job::may_follow(path[i - 1], path[i])) return Refused{path[i - 1], path[i]};
  }
  check(path.empty() || path.back() == change.next->state,
        "a change's path ends in its record's state");
  return std::nullopt;
}

// One event a step, with the times that the history has for them.
std::vector<std::string> events_of(const Change& change) {
  const std::vector<job::Event>& history = change.next->history;
  const std::vector<State>& path = change.path;
  std::vector<std::string> events;
  for (size_t i = 0; i < path.size(); ++i) {
    size_t from_end = path.size() - i;
    bool told = history.size() >= from_end && history[history.size() - from_end].state == path[i];
    WallTime at = told ? history[history.size() - from_end].at : change.next->updated_at;
    events.push_back(event_json(at, path[i]));
  }
  return events;
}

void add_ghosts(Command& command, const std::vector<Ghost>& ghosts) {
  command.add(2 * ghosts.size());
  for (const Ghost& ghost : ghosts) {
    command.add(ghost.job);
    command.add(ghost.dispatched_at);
  }
}

void add_wait(Command& command, const job::Record& record, bool waits, WallTime now) {
  if (!waits) {
    command.add("");
    command.add("");
    return;
  }
  Duration pause = record.due ? *record.due - record.updated_at : Duration(0);
  command.add(job::place_in_line(*record.wait));
  command.add(now + std::clamp(pause, Duration(0), limits::kBackoffMax));
}

void add_letter(Command& command, const std::optional<DeadLetter>& letter) {
  if (!letter) return command.add(0);
  add_list(command,
           {letter->job.str(), seconds_text(letter->created_at), dead_letter_json(*letter)});
}

void add_messages(Command& command, std::vector<Message>& messages, WallTime now) {
  command.add(messages.size());
  for (Message& message : messages) {
    command.add(encode(StoredMessage{Sequence(), std::move(message), false, now}));
  }
}

void add_timers(Command& command, const std::vector<Timer>& timers) {
  command.add(3 * timers.size());
  for (const Timer& timer : timers) {
    command.add(timer.key);
    command.add(timer.at);
    command.add(timer.payload);
  }
}

Result<Receipt> receipt_of(const JobId& job, State to, Snapshot record, Reply& reply) {
  const std::string& kind = reply.at(0).text;
  if (kind == "applied") {
    Applied applied;
    applied.record = std::move(record);
    applied.claimed = claims_of(reply.at(3));
    for (Reply& sequence : reply.at(4).items) {
      applied.messages.emplace_back(sequence.unsigned_number());
    }
    return applied;
  }
  if (kind == "conflict") {
    Conflict conflict{nullptr, reply.at(1).number() == 1};
    if (reply.at(2).none()) return conflict;
    auto now = found_job(job, std::move(reply.at(2)), false);
    if (!now) return std::unexpected(now.error());
    conflict.now = std::make_shared<const job::Record>(std::move(now->record));
    return conflict;
  }
  if (kind == "full") {
    return Full{reply.at(1).text == "tenant" ? Full::Slot::kTenant : Full::Slot::kWorker,
                static_cast<uint32_t>(reply.at(2).number())};
  }
  if (kind == "refused") return Refused{job::parse_state(reply.at(1).text), to};
  if (kind == "duplicate") return DuplicateKey{JobId(reply.at(1).take_text())};
  return fail(ErrorCode::kCorrupt, "the script that changes a job answers nonsense");
}

}  // namespace

// What few changes carry; the script has a short way for those that carry none of it.
static bool carries_more(const Change& change, const Places& places) {
  return !places.wait_class.empty() || !change.ghosts.empty() || change.dead_letter ||
         !change.messages.empty() || !change.timers.empty() || !change.timers_done.empty() ||
         change.consumed || !change.claim_from.empty();
}

Command RedisStore::apply_command(Change& change) const {
  const job::Record& next = *change.next;
  const bool admits = !change.guard.revision;
  const bool ended = job::is_terminal(next.state);
  Places places(next);
  Fields fields = fields_of(next, change.path, admits);
  std::string request_json;
  if (change.request) {
    cordum::agent::v1::JobRequest request;
    // What no Go service could have sent either is kept, for us alone.
    if (request.ParseFromString(*change.request)) {
      request_json = to_protojson(request);
      std::ranges::move(fields_of(request), std::back_inserter(fields));
    }
    fields.emplace_back("fl_req", *std::move(change.request));
  }
  std::vector<std::string> events = events_of(change);
  const bool more = carries_more(change, places);

  Command apply = script(Script::kApply);
  apply.add(next.id);
  apply.add(admits ? std::string() : std::to_string(change.guard.revision->value()));
  apply.add(change.guard.lease);
  apply.add(job::to_string(next.state));
  apply.add(change.path.empty() ? fmt::format("|{}|", job::to_string(next.state))
                                : states_before(change.path.front()));
  add_flag(apply, ended);
  apply.add(next.updated_at);
  apply.add(places.pack());
  apply.add(change.tenant_limit);
  apply.add(change.worker_limit);
  const bool keyed = admits && !next.idempotency_key.empty();
  apply.add(keyed ? idempotency_key(next.tenant, next.idempotency_key) : std::string());
  apply.add(next.tenant);
  apply.add(next.trace);
  add_time(apply, ended ? std::nullopt : next.deadline);
  apply.add(request_json);
  apply.add(next.result_ptr);
  apply.add(next.assignee);
  add_flag(apply, next.state == State::kApprovalRequired);
  add_flag(apply, change.release_lease);
  apply.add(change.mark);
  add_flag(apply, change.was_in_flight);
  const bool decides = writes_decision(next, change.path, admits);
  apply.add(next.decision.checked_at);
  apply.add(decides ? decision_json(next) : std::string());
  apply.add(events.size());
  apply.add(2 * fields.size());
  add_flag(apply, more);
  for (const std::string& event : events) apply.add(event);
  for (const auto& [name, value] : fields) {
    apply.add(name);
    apply.add(value);
  }
  if (more) add_more(apply, change, places);
  return apply;
}

void RedisStore::add_more(Command& apply, Change& change, const Places& places) const {
  const job::Record& next = *change.next;
  const WallTime now = clock_.wall();
  add_ghosts(apply, change.ghosts);
  apply.add(now);
  apply.add(clock_.at(opened_));
  add_wait(apply, next, !places.wait_class.empty(), now);
  add_letter(apply, change.dead_letter);
  add_messages(apply, change.messages, next.updated_at);
  add_timers(apply, change.timers);
  add_list(apply, change.timers_done);
  apply.add(change.consumed ? sequence_name(*change.consumed) : std::string());
  apply.add(change.claim_from.size());
  for (const std::vector<std::string>& group : change.claim_from) add_list(apply, group);
}

Answer<Receipt> RedisStore::apply(Change change) {
  if (auto refused = forbidden_step(change)) return Receipt(*refused);
  job::Record& next = *change.next;
  next.revision = change.guard.revision ? change.guard.revision->next() : Revision(1);
  Command command = apply_command(change);
  State to = change.path.empty() ? next.state : change.path.front();
  Snapshot record = std::move(change.next).seal();
  auto parse = [self = std::weak_ptr(self_), to, record](Reply reply) -> Result<Receipt> {
    if (auto alive = self.lock(); alive && reply.at(0).text == "applied") {
      (*alive)->view_.move(job::parse_state(reply.at(1).text), record->state, reply.at(2).text,
                           Places(*record).wait_class);
    }
    return receipt_of(record->id, to, record, reply);
  };
  return ask<Receipt>(command, std::move(parse));
}

}  // namespace fairlead::store::redis
