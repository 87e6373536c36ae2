#include "tests/crash/lives.h"

#include <charconv>
#include <map>

#include "base/check.h"

namespace fairlead::crash {

namespace {

constexpr std::string_view kIdPrefix = "job-";

WallTime time_of(uint64_t number, uint64_t revision) {
  return wall_time_from_micros(
      static_cast<int64_t>(1'700'000'000'000'000 + number * 10 + revision));
}

}  // namespace

store::Change Lives::change_to(uint64_t number, uint64_t revision, const Messages& messages) {
  using enum job::State;
  store::Change change;
  *change.next = record_of(number, revision);
  if (revision > 1) change.guard.revision = Revision(revision - 1);
  change.path = {change.next->state};
  if (revision == 1) {
    change.request = request_of(number);
    change.timers = {{timer_of(number), time_of(number, 1), "payload"}};
    change.mark = mark_of(number);
  }
  if (revision == 2) {
    change.path = {kScheduled, kDispatched};
    change.messages = {{"worker", job_id(number).str(), "", ""}};
    change.consumed = messages.queued;
  }
  change.may_be_put_off = revision == 3;
  if (revision == 4) {
    change.timers_done = {timer_of(number)};
    change.consumed = messages.dispatched;
    if (fails(number)) {
      change.dead_letter = store::DeadLetter{
          .job = job_id(number), .reason = "it fails", .created_at = time_of(number, 4)};
    }
  }
  return change;
}

JobId job_id(uint64_t number) {
  return JobId(std::string(kIdPrefix) + std::to_string(number));
}

std::string request_of(uint64_t number) {
  return "request of " + std::to_string(number) + std::string(number % 700, 'r');
}

std::string timer_of(uint64_t number) {
  return "timer-" + job_id(number).str();
}

TraceId trace_of(uint64_t number) {
  return TraceId("trace-" + std::to_string(number / 4));
}

std::string key_of(uint64_t number) {
  return number % 5 == 0 ? "key-" + std::to_string(number) : "";
}

std::string mark_of(uint64_t number) {
  return "mark-" + std::to_string(number);
}

std::string blob_key_of(uint64_t number) {
  return "blob-" + std::to_string(number);
}

std::string blob_of(uint64_t number) {
  return "blob of " + std::to_string(number) + std::string(number % 900, 'b');
}

bool fails(uint64_t number) {
  return number % 3 == 0;
}

job::Record record_of(uint64_t number, uint64_t revision) {
  using enum job::State;
  job::Record record;
  record.id = job_id(number);
  record.tenant = TenantId("acme");
  record.trace = trace_of(number);
  record.idempotency_key = key_of(number);
  record.created_at = time_of(number, 1);
  record.deadline = time_of(number, 1) + std::chrono::hours(1);
  record.revision = Revision(revision);
  for (uint64_t step = 1; step <= revision; ++step) {
    record.state = step == 1   ? kPending
                   : step == 2 ? kDispatched
                   : step == 3 ? kRunning
                               : (fails(number) ? kFailed : kSucceeded);
    record.updated_at = time_of(number, step);
    if (step == 2) {
      record.epoch = Epoch(1);
      record.assignee = WorkerId("worker-" + std::to_string(number % kWorkers));
      record.dispatched_at = record.updated_at;
    }
    record.publish_pending = step == 2;
    job::add_event(record, record.updated_at, std::string(number % 50, 'n'));
  }
  return record;
}

uint64_t number_of(std::string_view text) {
  check(text.starts_with(kIdPrefix), "only jobs of these lives are in the store");
  uint64_t number = 0;
  text.remove_prefix(kIdPrefix.size());
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void Lives::start(uint64_t count, uint64_t next) {
  next_ = next;
  nursery_.spawn(go_on(count));
}

Task<void> Lives::go_on(uint64_t count) {
  std::map<uint64_t, Messages> messages;
  auto orphans = co_await store_.orphans(Duration(0), SIZE_MAX);
  check(orphans.has_value(), "messages can be read");
  for (const auto& orphan : *orphans) {
    messages[number_of(orphan.message.payload)].dispatched = orphan.sequence;
  }
  auto queued = co_await store_.queued(SIZE_MAX);
  check(queued.has_value(), "messages can be read");
  for (const auto& message : *queued) {
    messages[number_of(message.message.payload)].queued = message.sequence;
  }
  std::map<uint64_t, uint64_t> unfinished;
  store::Query query{.by = store::Query::By::kTenant, .text = "acme"};
  do {
    auto page = co_await store_.scan(query);
    check(page.has_value(), "jobs can be read");
    for (const job::Record& record : page->records) {
      unfinished[number_of(record.id.str())] = record.revision.value();
    }
    query.cursor = page->next;
  } while (!query.cursor.empty());
  // Those of lives that did not begin: whoever begins one queues another.
  std::vector<Sequence> early;
  for (const auto& [number, each] : messages) {
    if (!unfinished.contains(number) && each.queued != Sequence()) early.push_back(each.queued);
  }
  auto forgotten = co_await store_.forget(std::move(early));
  check(forgotten.has_value(), "messages can be forgotten");
  for (auto [number, revision] : unfinished) {
    nursery_.spawn(live(number, revision, messages[number]));
  }
  for (uint64_t i = 0; i < count; ++i) nursery_.spawn(keep_going());
}

Task<void> Lives::keep_going() {
  while (true) {
    uint64_t number = next_++;
    co_await live(number, 0, {});
  }
}

Task<bool> Lives::prepare(uint64_t number, uint64_t revision, Messages& messages) {
  if (revision == 1) {
    auto queued =
        co_await store_.enqueue({"queue", job_id(number).str(), "", "group"}, time_of(number, 0));
    if (!queued) co_return false;
    messages.queued = *queued;
    auto put = co_await store_.put_blob(blob_key_of(number), {blob_of(number), {}},
                                        store::BlobCondition::kAlways);
    co_return put.has_value();
  }
  if (revision == 3) co_return (co_await store_.add(kCounter, 1)).has_value();
  if (revision == 4) co_return (co_await store_.erase_blob(blob_key_of(number))).has_value();
  co_return true;
}

Task<void> Lives::live(uint64_t number, uint64_t from_revision, Messages messages) {
  for (uint64_t revision = from_revision + 1; revision <= kLastRevision; ++revision) {
    if (!co_await prepare(number, revision, messages)) co_return;
    store::Change change = change_to(number, revision, messages);
    auto receipt = co_await store_.apply(std::move(change));
    if (!receipt) co_return;  // pushed back: the job stays as it is
    auto* applied = std::get_if<store::Applied>(&*receipt);
    check(applied && applied->record->revision == Revision(revision),
          "a change of a life is applied");
    if (!applied->messages.empty()) messages.dispatched = applied->messages.front();
    acknowledged_(number, revision);
  }
}

}  // namespace fairlead::crash
