#include "tests/crash/audit.h"

#include <fmt/core.h>

#include "store/cursor.h"
#include "store/rocksdb/database.h"
#include "store/rocksdb/keys.h"
#include "store/values.h"
#include "tests/crash/lives.h"

namespace fairlead::crash {

namespace {

using store::Query;

constexpr size_t kFaultsShown = 10;
const TenantId kTenant{"acme"};

// One look at one store.
class Audit {
 public:
  Audit(store::RocksStore& store, store::PumpLoop& loop) : store_(store), loop_(loop) {}

  std::vector<std::string> faults;

  // Every job that a scan knows, by number, with its record.
  std::map<uint64_t, job::Record> all(Query query) {
    std::map<uint64_t, job::Record> found;
    query.limit = limits::kScanMax;
    do {
      store::Page page = get(store_.scan(query));
      for (job::Record& record : page.records) {
        uint64_t number = number_of(record.id.str());
        if (!found.emplace(number, std::move(record)).second) fault("{} is listed twice", number);
      }
      query.cursor = page.next;
    } while (!query.cursor.empty());
    return found;
  }

  // The job's revision; what belongs to it must be there, and nothing more.
  uint64_t job(uint64_t number, uint64_t acknowledged) {
    store::Loaded loaded = get(store_.load(job_id(number), {.with_request = true}));
    key(number, loaded.record != nullptr);
    trace(number, loaded.record != nullptr);
    mark(number, loaded.record != nullptr);
    blob(number, loaded.record ? loaded.record->revision.value() : 0);
    if (!loaded.record) {
      if (acknowledged > 0) fault("{} is lost, it was at revision {}", number, acknowledged);
      if (!loaded.request.empty()) fault("{} has a request and no record", number);
      return 0;
    }
    uint64_t revision = loaded.record->revision.value();
    if (revision < acknowledged || revision > acknowledged + 1) {
      fault("{} is at revision {}, acknowledged was {}", number, revision, acknowledged);
    }
    if (*loaded.record != record_of(number, revision)) fault("{} has another record", number);
    if (loaded.request != request_of(number)) fault("{} has another request", number);
    bool ended = revision == kLastRevision;
    if (ended == store_.table().contains(job_id(number))) fault("{} is ended and live", number);
    bool dead = get(store_.dead_letter(job_id(number))).has_value();
    if (dead && !(ended && fails(number))) fault("{} has a dead letter too soon", number);
    return revision;
  }

  // The idempotency key came with the job, and belongs to it.
  void key(uint64_t number, bool admitted) {
    if (key_of(number).empty()) return;
    auto bytes = store_.database().get(store::Family::kIdempotency,
                                       store::idempotency_key(kTenant, key_of(number)));
    check(bytes.has_value(), "a store that was opened can be read");
    if (bytes->has_value() != admitted) return fault("{} and its idempotency key differ", number);
    if (!admitted) return;
    auto holder = store::decode_key_holder(**bytes);
    if (!holder || holder->job != job_id(number)) {
      fault("the idempotency key of {} is not its", number);
    }
  }

  // The message of the bus that the admission answered is marked as such.
  void mark(uint64_t number, bool admitted) {
    auto bytes = store_.database().get(store::Family::kBlob, store::processed_key(mark_of(number)));
    check(bytes.has_value(), "a store that was opened can be read");
    if (bytes->has_value() != admitted) fault("{} and its mark differ", number);
  }

  // It is put before the job is admitted, and erased between its last two revisions.
  void blob(uint64_t number, uint64_t revision) {
    std::optional<store::Blob> blob = get(store_.blob(blob_key_of(number)));
    if (!blob && revision >= 1 && revision <= 2) fault("{} lacks its blob", number);
    if (blob && revision == kLastRevision) fault("{} has a blob that was erased", number);
    if (blob && blob->bytes != blob_of(number)) fault("{} has another blob", number);
  }

  // The trace leads to the job.
  void trace(uint64_t number, bool admitted) {
    auto found = all({.by = Query::By::kTrace, .text = trace_of(number).str()});
    if (found.contains(number) != admitted) fault("{} and its trace differ", number);
  }

  // Idempotency keys and traces on disk are those of the jobs, and no more.
  void entries(const std::map<uint64_t, job::Record>& live,
               const std::map<uint64_t, job::Record>& ended) {
    size_t keys = 0;
    for (const auto* jobs : {&live, &ended}) {
      for (const auto& [number, record] : *jobs) keys += !key_of(number).empty();
    }
    for (store::Family family :
         {store::Family::kIdempotency, store::Family::kIdempotencyByExpiry}) {
      if (size_t there = count(family); there != keys) {
        fault("{} entries for {} idempotency keys", there, keys);
      }
    }
    for (store::Family family :
         {store::Family::kTrace, store::Family::kEndedByTime, store::Family::kEndedByQueue}) {
      if (size_t there = count(family); there != ended.size()) {
        fault("{} entries in an index for {} ended jobs", there, ended.size());
      }
    }
    size_t had_worker = 0;
    for (const auto& [number, record] : ended) had_worker += !record.assignee.empty();
    if (size_t there = count(store::Family::kEndedByWorker); there != had_worker) {
      fault("{} entries by worker for {} ended jobs", there, had_worker);
    }
    for (const auto& [family, what] : {std::pair(store::Family::kBlobByExpiry, "marks"),
                                       std::pair(store::Family::kRequest, "requests")}) {
      if (size_t there = count(family); there != live.size() + ended.size()) {
        fault("{} {} of {} jobs", there, what, live.size() + ended.size());
      }
    }
    size_t counted = 0;
    for (job::State state : job::kAllStates) {
      if (job::is_terminal(state)) counted += store_.jobs_in(state);
    }
    if (counted != ended.size()) fault("{} ended jobs counted as {}", ended.size(), counted);
  }

  // Every life that is running or has ended was counted; a cut-off one may have been before.
  void counter(const std::map<uint64_t, job::Record>& live, size_t ended, uint64_t again_max) {
    auto running = static_cast<uint64_t>(std::ranges::count_if(
        live, [](const auto& each) { return each.second.revision >= Revision(3); }));
    auto there = static_cast<uint64_t>(get(store_.add(kCounter, 0)));
    if (there < running + ended || there > running + ended + again_max) {
      fault("{} lives are counted as {}", running + ended, there);
    }
  }

  // Messages that were queued wait for the jobs that are admitted and not dispatched, or for lives
  // that did not begin.
  void queued(const std::map<uint64_t, job::Record>& live) {
    std::map<uint64_t, size_t> waiting;
    for (const auto& message : get(store_.queued(SIZE_MAX))) {
      ++waiting[number_of(message.message.payload)];
    }
    for (const auto& [number, count] : waiting) {
      if (count > 1) fault("{} has {} queued messages", number, count);
      if (!live.contains(number) && get(store_.load(job_id(number), {})).record) {
        fault("{} has ended, and a message is queued for it", number);
      }
    }
    for (const auto& [number, record] : live) {
      const bool admitted = record.revision == Revision(1);
      if (waiting.contains(number) != admitted) fault("{} and its queued message differ", number);
    }
  }

  // What lies beside the live jobs, and their slots, must be exactly theirs.
  void beside(const std::map<uint64_t, job::Record>& live) {
    std::set<uint64_t> messages;
    for (const auto& orphan : get(store_.orphans(Duration(0), SIZE_MAX))) {
      messages.insert(number_of(orphan.message.payload));
    }
    std::set<std::string> timers;
    for (const auto& timer : get(store_.due_timers(WallTime::max(), SIZE_MAX))) {
      timers.insert(timer.key);
    }
    std::map<std::string, uint32_t> slots;
    uint32_t tenant_slots = 0;
    size_t with_message = 0;
    for (const auto& [number, record] : live) {
      if (!timers.contains(timer_of(number))) fault("{} lacks its timer", number);
      bool dispatched = record.revision >= Revision(2);
      if (messages.contains(number) != dispatched) fault("{} and its message differ", number);
      with_message += dispatched;
      if (!dispatched) continue;
      ++slots[record.assignee.str()];
      ++tenant_slots;
    }
    if (timers.size() != live.size()) fault("{} timers, {} live jobs", timers.size(), live.size());
    if (messages.size() != with_message) {
      fault("{} messages of {} jobs", messages.size(), with_message);
    }
    if (store_.table().tenant_slots(kTenant) != tenant_slots) fault("tenant slots differ");
    for (uint64_t i = 0; i < kWorkers; ++i) {
      WorkerId worker("worker-" + std::to_string(i));
      if (store_.table().worker_slots(worker) != slots[worker.str()]) {
        fault("slots of {} differ", worker.str());
      }
    }
  }

  // The dead letters are those of the latest failed jobs.
  void dead_letters(const std::map<uint64_t, job::Record>& ended) {
    size_t failed = 0;
    for (const auto& [number, record] : ended) failed += fails(number);
    size_t expected = std::min(failed, limits::kDlqEntriesMax);
    std::string cursor;
    size_t found = 0;
    while (true) {
      auto entries = get(store_.dead_letters(cursor, limits::kScanMax));
      if (entries.empty()) break;
      found += entries.size();
      cursor = store::to_cursor(store::position_of(entries.back()));
    }
    if (found != expected) fault("{} dead letters instead of {}", found, expected);
  }

 private:
  size_t count(store::Family family) {
    size_t there = 0;
    auto read =
        store_.database().for_each(family, [&](std::string_view, std::string_view) -> Result<void> {
          ++there;
          return {};
        });
    check(read.has_value(), "a store that was opened can be read");
    return there;
  }

  template <class T>
  T get(store::Answer<T> answer) {
    auto result = loop_.wait(std::move(answer));
    check(result.has_value(), "a store that was opened can be read");
    return *std::move(result);
  }

  template <class... Args>
  void fault(fmt::format_string<Args...> what, Args&&... args) {
    if (faults.size() < kFaultsShown) {
      faults.push_back(fmt::format(what, std::forward<Args>(args)...));
    }
  }

  store::RocksStore& store_;
  store::PumpLoop& loop_;
};

}  // namespace

void Ledger::acknowledged(uint64_t number, uint64_t revision) {
  revisions_[number] = revision;
  changed_.insert(number);
  next_ = std::max(next_, number + 1);
  ++changes_;
}

std::vector<std::string> Ledger::audit(store::RocksStore& store, store::PumpLoop& loop,
                                       bool everything) {
  Audit audit(store, loop);
  auto live = audit.all({.by = Query::By::kTenant, .text = "acme"});
  // A life that was not acknowledged at all is known only by being there.
  for (const auto& [number, record] : live) {
    revisions_.emplace(number, 0);
    changed_.insert(number);
    counted_again_max_ += record.revision == Revision(2);
  }
  if (everything) {
    for (const auto& [number, revision] : revisions_) changed_.insert(number);
    auto ended = audit.all({.by = Query::By::kEnded});
    if (ended.size() + live.size() != revisions_.size()) {
      audit.faults.push_back(fmt::format("{} ended and {} live jobs, {} are known", ended.size(),
                                         live.size(), revisions_.size()));
    }
    audit.dead_letters(ended);
    audit.entries(live, ended);
    audit.counter(live, ended.size(), counted_again_max_);
  }
  for (uint64_t number : changed_) {
    revisions_[number] = audit.job(number, revisions_[number]);
    next_ = std::max(next_, number + 1);
  }
  audit.beside(live);
  audit.queued(live);
  // The live ones may go on unseen until a life is cut off, so they are looked at again.
  changed_.clear();
  for (const auto& [number, record] : live) changed_.insert(number);
  return audit.faults;
}

}  // namespace fairlead::crash
