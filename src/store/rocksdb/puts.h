// Puts and erasures on their way to the committer, in one buffer: the loop's thread only appends
// bytes, and the committer makes RocksDB's batch of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "job/record.h"

namespace rocksdb {
class WriteBatch;
}

namespace fairlead::store {

class Database;
enum class Family : uint8_t;

// One of them, as it stands in the buffer.
struct Put {
  enum class Kind : char { kPut, kErase, kEraseRange };
  Kind kind;
  Family family;
  size_t order;  // among all that are added together
  std::string_view key;
  std::string_view value;  // of a range: its end
};

class Puts {
 public:
  void put(Family family, std::string_view key, std::string_view value);
  void put(Family family, const job::Record& record);
  void erase(Family family, std::string_view key);
  // Everything from `first` up to and including `last`.
  void erase_range(Family family, std::string_view first, std::string_view last);

  size_t count() const { return count_; }
  size_t bytes() const { return buffer_.size(); }
  void reserve(size_t bytes) { buffer_.reserve(bytes); }
  bool empty() const { return count_ == 0; }

  // The puts are views of this buffer.
  void append_to(std::vector<Put>& puts) const;

 private:
  void begin(Put::Kind kind, Family family, std::string_view key);
  void append_size(size_t size);

  std::string buffer_;
  size_t count_ = 0;
};

// Adds the puts to RocksDB's batch, in order of families and keys, each key's last one only: its
// memtables take neighbours far faster than strangers.
void add_sorted(std::vector<Put>& puts, const Database& database, rocksdb::WriteBatch& batch);

}  // namespace fairlead::store
