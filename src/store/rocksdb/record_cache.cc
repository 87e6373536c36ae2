#include "store/rocksdb/record_cache.h"

#include "base/limits.h"

namespace fairlead::store {

namespace {

// About what an entry takes: the texts that may be long, and a flat sum for the rest.
size_t bytes_of(const RecordCache::Entry& entry) {
  constexpr size_t kFlat = sizeof(RecordCache::Entry) + sizeof(job::Record) + 512;
  size_t request = entry.request ? entry.request->size() : 0;
  return kFlat + request + entry.record->history.size() * sizeof(job::Event) +
         entry.record->error_message.size() + entry.record->decision.constraints.size();
}

}  // namespace

RecordCache::Entry* RecordCache::find(const JobId& job) {
  auto found = by_id_.find(std::string_view(job.str()));
  if (found == by_id_.end()) return nullptr;
  by_use_.splice(by_use_.begin(), by_use_, *found);
  return &by_use_.front();
}

void RecordCache::put(Snapshot record, std::optional<std::string> request, uint64_t operation) {
  Entry* entry = find(record->id);
  if (entry) {
    entry->record = std::move(record);
    if (request) entry->request = std::move(request);
  } else {
    entry = &by_use_.emplace_front(Entry{std::move(record), std::move(request)});
    by_id_.insert(by_use_.begin());
  }
  entry->operation = operation;
  bytes_ -= entry->bytes;
  entry->bytes = bytes_of(*entry);
  bytes_ += entry->bytes;
}

void RecordCache::erase(const JobId& job) {
  auto found = by_id_.find(std::string_view(job.str()));
  if (found != by_id_.end()) erase(*found);
}

void RecordCache::erase(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_id_.erase(entry);
  by_use_.erase(entry);
}

void RecordCache::trim(uint64_t durable) {
  while (bytes_ > limits::kRecordCacheBytesMax && by_use_.back().operation <= durable) {
    erase(std::prev(by_use_.end()));
  }
}

}  // namespace fairlead::store
