// Puts and erasures on their way to the committer, in one buffer: the loop's thread only appends
// bytes, and the committer makes RocksDB's batch of them. Records go as they are, and the committer
// encodes those that are not written over in the same batch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/change.h"

namespace rocksdb {
class WriteBatch;
}

namespace fairlead::store {

class Database;
enum class Family : uint8_t;

// One of them, as it stands in the buffer.
struct Put {
  enum class Kind : char { kPut, kPutRecord, kErase, kEraseRange };
  Kind kind;
  Family family;
  size_t order;  // among all that are added together
  std::string_view key;
  std::string_view value;     // of a range: its end
  const job::Record* record;  // in place of a value
};

class Puts {
 public:
  void put(Family family, std::string_view key, std::string_view value);
  void put(Family family, Snapshot record);
  void erase(Family family, std::string_view key);
  // Everything from `first` up to and including `last`.
  void erase_range(Family family, std::string_view first, std::string_view last);

  size_t count() const { return count_; }
  // About what they will take in the log.
  size_t bytes() const { return buffer_.size() + record_bytes_; }
  // As large as these became: the next will not be much larger.
  void reserve_like(const Puts& puts);
  bool empty() const { return count_ == 0; }

  // The puts are views of this.
  void append_to(std::vector<Put>& puts) const;

 private:
  void begin(Put::Kind kind, Family family);
  void begin(Put::Kind kind, Family family, std::string_view key);
  void append_size(size_t size);

  std::string buffer_;
  std::vector<Snapshot> records_;
  size_t record_bytes_ = 0;
  size_t count_ = 0;
};

// Adds the puts to RocksDB's batch, in order of families and keys, each key's last one only: its
// memtables take neighbours far faster than strangers.
void add_sorted(std::vector<Put>& puts, const Database& database, rocksdb::WriteBatch& batch);

}  // namespace fairlead::store
