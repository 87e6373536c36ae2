#include "store/rocksdb/puts.h"

#include <algorithm>
#include <cstring>

#include <rocksdb/write_batch.h>

#include "base/check.h"
#include "job/codec.h"
#include "store/rocksdb/database.h"

namespace fairlead::store {

namespace {

using Kind = Put::Kind;

constexpr size_t kReservedMax = 1 << 20;

std::string_view take_counted(std::string_view& bytes) {
  uint32_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  std::string_view taken = bytes.substr(sizeof size, size);
  bytes.remove_prefix(sizeof size + size);
  return taken;
}

rocksdb::Slice slice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

bool same_key(const Put& a, const Put& b) {
  return a.family == b.family && a.key == b.key;
}

// About what a record takes when it is encoded.
size_t estimate(const job::Record& record) {
  constexpr size_t kFlat = 256;
  constexpr size_t kEvent = 24;
  return kFlat + record.history.size() * kEvent + job::text_bytes(record);
}

rocksdb::Status add(const Put& put, rocksdb::ColumnFamilyHandle* family, std::string& encoded,
                    rocksdb::WriteBatch& batch) {
  switch (put.kind) {
    case Kind::kPutRecord:
      encoded.clear();
      job::encode(*put.record, encoded);
      return batch.Put(family, slice(put.key), slice(encoded));
    case Kind::kPut:
      return batch.Put(family, slice(put.key), slice(put.value));
    case Kind::kErase:
      return batch.Delete(family, slice(put.key));
    case Kind::kEraseRange:
      return batch.DeleteRange(family, slice(put.key), slice(put.value));
  }
  return rocksdb::Status::InvalidArgument();
}

}  // namespace

void Puts::put(Family family, std::string_view key, std::string_view value) {
  begin(Kind::kPut, family, key);
  append_size(value.size());
  buffer_ += value;
}

void Puts::put(Family family, Snapshot record) {
  begin(Kind::kPutRecord, family);
  record_bytes_ += estimate(*record);
  records_.push_back(std::move(record));
}

void Puts::erase(Family family, std::string_view key) {
  begin(Kind::kErase, family, key);
}

void Puts::erase_range(Family family, std::string_view first, std::string_view last) {
  begin(Kind::kEraseRange, family, first);
  // RocksDB's ranges end before their end: the least key behind `last` is it with a zero behind it.
  append_size(last.size() + 1);
  buffer_ += last;
  buffer_.push_back('\0');
}

void Puts::reserve_like(const Puts& puts) {
  buffer_.reserve(std::min(puts.buffer_.size(), kReservedMax));
  records_.reserve(std::min(puts.records_.size(), kReservedMax / sizeof(Snapshot)));
}

void Puts::begin(Kind kind, Family family) {
  ++count_;
  buffer_.push_back(static_cast<char>(kind));
  buffer_.push_back(static_cast<char>(family));
}

void Puts::begin(Kind kind, Family family, std::string_view key) {
  begin(kind, family);
  append_size(key.size());
  buffer_ += key;
}

void Puts::append_size(size_t size) {
  auto stored = static_cast<uint32_t>(size);
  check(stored == size, "a key or value is below 4 GB");
  buffer_.append(reinterpret_cast<const char*>(&stored), sizeof stored);
}

void Puts::append_to(std::vector<Put>& puts) const {
  std::string_view rest = buffer_;
  size_t records = 0;
  while (!rest.empty()) {
    Put put{static_cast<Kind>(rest[0]), static_cast<Family>(rest[1]), puts.size(), {}, {}, nullptr};
    rest.remove_prefix(2);
    if (put.kind == Kind::kPutRecord) {
      put.record = records_[records++].get();
      put.key = put.record->id.str();
    } else {
      put.key = take_counted(rest);
      if (put.kind != Kind::kErase) put.value = take_counted(rest);
    }
    puts.push_back(put);
  }
}

void add_sorted(std::vector<Put>& puts, const Database& database, rocksdb::WriteBatch& batch) {
  // What a range erases depends on what stands before it.
  bool sortable =
      std::ranges::none_of(puts, [](const Put& put) { return put.kind == Kind::kEraseRange; });
  if (sortable) {
    std::ranges::sort(puts, [](const Put& a, const Put& b) {
      if (a.family != b.family) return a.family < b.family;
      return a.key != b.key ? a.key < b.key : a.order < b.order;
    });
  }
  std::string encoded;
  for (size_t i = 0; i < puts.size(); ++i) {
    if (sortable && i + 1 < puts.size() && same_key(puts[i], puts[i + 1])) continue;
    rocksdb::Status status = add(puts[i], database.handle(puts[i].family), encoded, batch);
    check(status.ok(), "a batch takes every put");
  }
}

}  // namespace fairlead::store
