// Decoded records at hand: all that are not yet durable, so that a read sees every change made
// before it, and beyond them the ones used last: of live jobs up to kRecordCacheBytesMax, of ended
// ones, which are seldom asked for, up to kEndedCacheBytesMax. What is kept short stays in the
// processor's cache.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "store/change.h"

namespace fairlead::store {

class RecordCache {
 public:
  struct Entry {
    Snapshot record;
    std::optional<std::string> request;  // of a job admitted lately
    uint64_t operation = 0;              // durable when this one is; 0: read from disk
    size_t bytes = 0;
    bool ended = false;
  };

  // Nullptr: not at hand, so what is on disk is all there is.
  Entry* find(const JobId& job);
  void put(Snapshot record, std::optional<std::string> request, uint64_t operation);
  void erase(const JobId& job);
  // Drops the ones used longest ago where there are too many; none after `durable`.
  void trim(uint64_t durable);

  size_t size() const { return by_id_.size(); }

 private:
  using Entries = std::list<Entry>;

  // Last used first.
  struct Shelf {
    Entries by_use;
    size_t bytes = 0;
  };

  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view id) const { return std::hash<std::string_view>{}(id); }
    size_t operator()(Entries::iterator entry) const { return (*this)(entry->record->id.str()); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(Entries::iterator a, Entries::iterator b) const { return a == b; }
    bool operator()(std::string_view id, Entries::iterator entry) const {
      return id == entry->record->id.str();
    }
    bool operator()(Entries::iterator entry, std::string_view id) const {
      return (*this)(id, entry);
    }
  };

  Shelf& shelf_of(const Entry& entry) { return entry.ended ? ended_ : live_; }
  void erase(Entries::iterator entry);
  void trim(Shelf& shelf, size_t bytes_max, uint64_t durable);

  Shelf live_;
  Shelf ended_;
  std::unordered_set<Entries::iterator, Hash, Equal> by_id_;
};

}  // namespace fairlead::store
