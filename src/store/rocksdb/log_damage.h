// Whether a log that RocksDB could not read to its end was cut off or was damaged.
//
// RocksDB offers two ways to read a log: refuse any bad record, also the one that was being written
// when the machine stopped; or end silently at the first, also when acknowledged changes follow it.
// We take the second only when nothing follows that was written later: every commit carries its
// number, and a commit begins when the one before it is synced. So a bad place with a commit behind
// it that is not the next one is damage, and a person has to look.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::store {

// Stands first in every batch: which commit it belongs to, of which run of the program.
struct CommitMark {
  uint64_t run = 0;
  uint64_t commit = 0;

  bool operator==(const CommitMark&) const = default;
};
std::string encode(const CommitMark& mark);

// The bytes of the log files, oldest first.
bool damaged_before_its_end(const std::vector<std::string>& logs);

}  // namespace fairlead::store
