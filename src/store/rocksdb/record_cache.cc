#include "store/rocksdb/record_cache.h"

#include "base/limits.h"
#include "job/codec.h"

namespace fairlead::store {

namespace {

// About what an entry takes.
size_t bytes_of(const RecordCache::Entry& entry) {
  constexpr size_t kFlat = sizeof(RecordCache::Entry) + sizeof(job::Record) + 256;
  size_t request = entry.request ? entry.request->size() : 0;
  return kFlat + request + entry.record->history.size() * sizeof(job::Event) +
         job::text_bytes(*entry.record);
}

}  // namespace

RecordCache::Entry* RecordCache::find(const JobId& job) {
  auto found = by_id_.find(std::string_view(job.str()));
  if (found == by_id_.end()) return nullptr;
  Entries& by_use = shelf_of(**found).by_use;
  by_use.splice(by_use.begin(), by_use, *found);
  return &by_use.front();
}

void RecordCache::put(Snapshot record, std::optional<std::string> request, uint64_t operation) {
  bool ended = job::is_terminal(record->state);
  Entry* entry = find(record->id);
  if (entry) {
    Shelf& from = shelf_of(*entry);
    from.bytes -= entry->bytes;
    entry->record = std::move(record);
    if (request) entry->request = std::move(request);
    if (ended != entry->ended) {
      Entries& to = (ended ? ended_ : live_).by_use;
      to.splice(to.begin(), from.by_use, from.by_use.begin());
    }
  } else {
    Entries& by_use = (ended ? ended_ : live_).by_use;
    entry = &by_use.emplace_front(Entry{std::move(record), std::move(request)});
    by_id_.insert(by_use.begin());
  }
  entry->ended = ended;
  entry->operation = operation;
  entry->bytes = bytes_of(*entry);
  shelf_of(*entry).bytes += entry->bytes;
}

void RecordCache::erase(const JobId& job) {
  auto found = by_id_.find(std::string_view(job.str()));
  if (found != by_id_.end()) erase(*found);
}

void RecordCache::erase(Entries::iterator entry) {
  Shelf& shelf = shelf_of(*entry);
  shelf.bytes -= entry->bytes;
  by_id_.erase(entry);
  shelf.by_use.erase(entry);
}

void RecordCache::trim(uint64_t durable) {
  trim(live_, limits::kRecordCacheBytesMax, durable);
  trim(ended_, limits::kEndedCacheBytesMax, durable);
}

void RecordCache::trim(Shelf& shelf, size_t bytes_max, uint64_t durable) {
  while (shelf.bytes > bytes_max && shelf.by_use.back().operation <= durable) {
    erase(std::prev(shelf.by_use.end()));
  }
}

}  // namespace fairlead::store
