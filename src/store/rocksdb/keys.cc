#include "store/rocksdb/keys.h"

namespace fairlead::store {

namespace {

constexpr size_t kNumberBytes = 8;
constexpr uint64_t kSignBit = uint64_t{1} << 63;  // flipped, so that negative times come first

void append_number(std::string& key, uint64_t number) {
  for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(number >> shift));
}

void append_time(std::string& key, WallTime at) {
  append_number(key, static_cast<uint64_t>(to_micros(at)) ^ kSignBit);
}

void append_counted(std::string& key, std::string_view text) {
  append_number(key, text.size());
  key += text;
}

}  // namespace

std::string number_key(uint64_t number) {
  std::string key;
  append_number(key, number);
  return key;
}

std::optional<uint64_t> parse_number_key(std::string_view key) {
  if (key.size() != kNumberBytes) return std::nullopt;
  uint64_t number = 0;
  for (char byte : key) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

std::string time_key(WallTime at, std::string_view name) {
  std::string key;
  key.reserve(kNumberBytes + name.size());
  append_time(key, at);
  key += name;
  return key;
}

std::optional<TimeKey> parse_time_key(std::string_view key) {
  auto number = parse_number_key(key.substr(0, kNumberBytes));
  if (!number) return std::nullopt;
  return TimeKey{wall_time_from_micros(static_cast<int64_t>(*number ^ kSignBit)),
                 std::string(key.substr(kNumberBytes))};
}

std::string trace_prefix(const TraceId& trace) {
  std::string key;
  append_counted(key, trace.str());
  return key;
}

std::string trace_key(const TraceId& trace, WallTime created, const JobId& job) {
  return trace_prefix(trace) + time_key(created, job.str());
}

std::string tenant_prefix(std::string_view tenant) {
  std::string key;
  append_counted(key, tenant);
  return key;
}

std::string queue_prefix(std::string_view tenant, std::string_view topic) {
  std::string key = tenant_prefix(tenant);
  append_counted(key, topic);
  return key;
}

std::optional<QueuePrefixes> parse_queue_prefixes(std::string_view key) {
  // The size of the counted text at the front of the rest, its count included.
  auto counted = [](std::string_view rest) -> std::optional<size_t> {
    auto size = parse_number_key(rest.substr(0, kNumberBytes));
    if (!size || *size > rest.size() - kNumberBytes) return std::nullopt;
    return kNumberBytes + *size;
  };
  auto tenant = counted(key);
  if (!tenant) return std::nullopt;
  auto topic = counted(key.substr(*tenant));
  if (!topic) return std::nullopt;
  return QueuePrefixes{key.substr(0, *tenant), key.substr(0, *tenant + *topic)};
}

std::string worker_prefix(std::string_view worker) {
  std::string key;
  append_counted(key, worker);
  return key;
}

std::string ended_prefix(std::string_view place, job::State state) {
  std::string key(place);
  key.push_back(static_cast<char>(state));
  return key;
}

std::string ended_key(std::string_view place, const job::Record& record) {
  std::string key;
  key.reserve(place.size() + 1 + kNumberBytes + record.id.str().size());
  key += place;
  key.push_back(static_cast<char>(record.state));
  append_time(key, record.updated_at);
  key += record.id.str();
  return key;
}

std::string behind_prefix(std::string_view prefix) {
  // What follows a prefix is a count, a state or a time: none begins with so many ones.
  return std::string(prefix) + std::string(kNumberBytes, '\xff');
}

std::string idempotency_key(const TenantId& tenant, std::string_view key) {
  std::string text;
  append_counted(text, tenant.str());
  text += key;
  return text;
}

}  // namespace fairlead::store
