// Whether a store that was opened after a crash holds every acknowledged change, whole, and nothing
// else.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "store/contract/pump_loop.h"
#include "store/rocksdb/rocks_store.h"

namespace fairlead::crash {

class Ledger {
 public:
  void acknowledged(uint64_t number, uint64_t revision);
  // The first number that no job can have yet.
  uint64_t next() const { return next_; }
  size_t jobs() const { return revisions_.size(); }
  uint64_t changes() const { return changes_; }

  // Looks at what has changed since the last audit, or at everything, and takes note of changes
  // that were made and not acknowledged. Says in one line each what is wrong, at most a few.
  std::vector<std::string> audit(store::RocksStore& store, store::PumpLoop& loop, bool everything);

 private:
  std::map<uint64_t, uint64_t> revisions_;  // acknowledged, or found
  std::set<uint64_t> changed_;
  uint64_t counted_again_max_ = 0;  // by lives that were cut off before they said so
  uint64_t next_ = 0;
  uint64_t changes_ = 0;
};

}  // namespace fairlead::crash
