#include "store/rocksdb/log_damage.h"

#include <array>
#include <cstring>
#include <optional>

namespace fairlead::store {

namespace {

constexpr std::string_view kMarkName = "fairlead";
constexpr size_t kMarkBytes = kMarkName.size() + 2 * sizeof(uint64_t);

// RocksDB's log format: blocks of 32 KB, records of them with a header each; a batch may be spread
// over several records.
constexpr size_t kBlockBytes = 32 << 10;
constexpr size_t kHeaderBytes = 7;  // checksum, length, type
constexpr uint8_t kWhole = 1;
constexpr uint8_t kFirst = 2;
// A batch begins with its sequence and its count; ours then with the mark, as log data.
constexpr size_t kBatchHeaderBytes = 12;
constexpr char kLogData = 3;

// CRC-32C, as RocksDB stores it.
uint32_t checksum(std::string_view bytes) {
  static const auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < table.size(); ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
      table[i] = crc;
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (char byte : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
  crc = ~crc;
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

struct LogRecord {
  bool good = false;
  uint8_t type = 0;
  std::string_view payload;
};

class LogWalk {
 public:
  explicit LogWalk(std::string_view log) : log_(log) {}

  // After a bad record it goes on where the next one, or else the next block, begins.
  std::optional<LogRecord> next() {
    size_t left = kBlockBytes - at_ % kBlockBytes;
    if (left < kHeaderBytes) {
      at_ += left;
      left = kBlockBytes;
    }
    if (at_ + kHeaderBytes > log_.size()) return std::nullopt;
    uint32_t stored = 0;
    uint16_t length = 0;
    std::memcpy(&stored, log_.data() + at_, sizeof stored);
    std::memcpy(&length, log_.data() + at_ + 4, sizeof length);
    auto type = static_cast<uint8_t>(log_[at_ + 6]);
    size_t end = at_ + kHeaderBytes + length;
    if (type == 0 || kHeaderBytes + length > left || end > log_.size()) {
      at_ += left;
      return LogRecord{};
    }
    std::string_view checked = log_.substr(at_ + 6, 1 + length);
    at_ = end;
    return LogRecord{checksum(checked) == stored, type, checked.substr(1)};
  }

 private:
  std::string_view log_;
  size_t at_ = 0;
};

std::optional<CommitMark> mark_of(const LogRecord& record) {
  if (!record.good || (record.type != kWhole && record.type != kFirst)) return std::nullopt;
  std::string_view bytes = record.payload;
  if (bytes.size() < kBatchHeaderBytes + 2 + kMarkBytes) return std::nullopt;
  bytes.remove_prefix(kBatchHeaderBytes);
  if (bytes[0] != kLogData || static_cast<size_t>(bytes[1]) != kMarkBytes) return std::nullopt;
  bytes.remove_prefix(2);
  if (!bytes.starts_with(kMarkName)) return std::nullopt;
  CommitMark mark;
  std::memcpy(&mark.run, bytes.data() + kMarkName.size(), sizeof mark.run);
  std::memcpy(&mark.commit, bytes.data() + kMarkName.size() + sizeof mark.run, sizeof mark.commit);
  return mark;
}

}  // namespace

std::string encode(const CommitMark& mark) {
  std::string bytes(kMarkName);
  bytes.append(reinterpret_cast<const char*>(&mark.run), sizeof mark.run);
  bytes.append(reinterpret_cast<const char*>(&mark.commit), sizeof mark.commit);
  return bytes;
}

bool damaged_before_its_end(const std::vector<std::string>& logs) {
  CommitMark last;
  bool bad = false;
  for (const std::string& log : logs) {
    LogWalk walk(log);
    while (auto record = walk.next()) {
      bad = bad || !record->good;
      auto mark = mark_of(*record);
      if (!mark) continue;
      // A new run has read what the one before it left, torn or not.
      if (mark->run != last.run || mark->commit == 1) bad = false;
      if (bad && mark->commit > last.commit + 1) return true;
      if (!bad) last = *mark;
    }
  }
  return false;
}

}  // namespace fairlead::store
