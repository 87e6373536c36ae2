// Decoded records at hand: all that are not yet durable, so that a read sees every change made
// before it, and beyond them the ones used last, up to kRecordCacheBytesMax.
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
  };

  // Nullptr: not at hand, so what is on disk is all there is.
  Entry* find(const JobId& job);
  void put(Snapshot record, std::optional<std::string> request, uint64_t operation);
  void erase(const JobId& job);
  // Drops the ones used longest ago while there are too many; none after `durable`.
  void trim(uint64_t durable);

  size_t size() const { return by_id_.size(); }

 private:
  using Entries = std::list<Entry>;

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

  void erase(Entries::iterator entry);

  Entries by_use_;  // last used first
  std::unordered_set<Entries::iterator, Hash, Equal> by_id_;
  size_t bytes_ = 0;
};

}  // namespace fairlead::store
