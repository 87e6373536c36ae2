#include "store/values.h"

#include <cstdint>
#include <cstring>
#include <limits>

namespace fairlead::store {

namespace {

constexpr char kVersion = 1;

// The one list of fields of each value, for writing and reading.

void fields(auto& archive, auto& entry)
  requires requires { entry.reason_code; }
{
  archive(entry.job, entry.topic, entry.tenant, entry.status, entry.reason, entry.reason_code,
          entry.last_state, entry.attempts, entry.created_at);
}

void fields(auto& archive, auto& timer)
  requires requires { timer.key; }
{
  archive(timer.key, timer.at, timer.payload);
}

void fields(auto& archive, auto& message)
  requires requires { message.stored_at; }
{
  archive(message.sequence, message.stored_at, message.queued, message.message.subject,
          message.message.payload, message.message.id, message.message.group);
}

void fields(auto& archive, auto& holder)
  requires requires {
    holder.job;
    holder.expires;
  }
{
  archive(holder.job, holder.expires);
}

class Writer {
 public:
  Writer() : out_(1, kVersion) {}

  template <class... Fields>
  void operator()(const Fields&... given) {
    (put(given), ...);
  }
  std::string take() { return std::move(out_); }

  void put(uint64_t number) { out_.append(reinterpret_cast<const char*>(&number), sizeof number); }
  void put(uint32_t number) { put(uint64_t{number}); }
  void put(bool flag) { put(uint64_t{flag}); }
  void put(WallTime time) { put(static_cast<uint64_t>(to_micros(time))); }
  void put(const std::string& text) {
    put(text.size());
    out_ += text;
  }
  template <class Tag>
  void put(const Name<Tag>& name) {
    put(name.str());
  }
  template <class Tag>
  void put(Number<Tag> number) {
    put(number.value());
  }
  void put_rest(std::string_view bytes) { out_ += bytes; }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {
    whole_ = !rest_.empty() && rest_.front() == kVersion;
    if (whole_) rest_.remove_prefix(1);
  }

  template <class... Fields>
  void operator()(Fields&... wanted) {
    (get(wanted), ...);
  }
  bool whole() const { return whole_; }
  std::string_view rest() const { return rest_; }

  void get(uint64_t& number) {
    if (rest_.size() < sizeof number) {
      whole_ = false;
      number = 0;
      return;
    }
    std::memcpy(&number, rest_.data(), sizeof number);
    rest_.remove_prefix(sizeof number);
  }
  void get(uint32_t& number) { number = static_cast<uint32_t>(get_number()); }
  void get(bool& flag) { flag = get_number() != 0; }
  void get(WallTime& time) { time = wall_time_from_micros(static_cast<int64_t>(get_number())); }
  void get(std::string& text) {
    uint64_t size = get_number();
    if (size > rest_.size()) {
      whole_ = false;
      return;
    }
    text = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }
  template <class Tag>
  void get(Name<Tag>& name) {
    std::string text;
    get(text);
    name = Name<Tag>(std::move(text));
  }
  template <class Tag>
  void get(Number<Tag>& number) {
    number = Number<Tag>(get_number());
  }

 private:
  uint64_t get_number() {
    uint64_t number = 0;
    get(number);
    return number;
  }

  std::string_view rest_;
  bool whole_ = true;
};

template <class T>
std::string write(const T& value) {
  Writer writer;
  fields(writer, value);
  return writer.take();
}

template <class T>
Result<T> read(std::string_view bytes, const char* what) {
  Reader reader(bytes);
  T value;
  fields(reader, value);
  if (!reader.whole() || !reader.rest().empty()) return fail(ErrorCode::kCorrupt, what);
  return value;
}

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

std::optional<WallTime> get_expiry(Reader& reader) {
  WallTime at;
  reader.get(at);
  if (to_micros(at) == kNever) return std::nullopt;
  return at;
}

}  // namespace

std::string encode(const DeadLetter& entry) {
  return write(entry);
}
std::string encode(const Timer& timer) {
  return write(timer);
}
std::string encode(const StoredMessage& message) {
  return write(message);
}
std::string encode(const KeyHolder& holder) {
  return write(holder);
}

std::string encode(const Blob& blob) {
  Writer writer;
  writer.put(blob.expires.value_or(wall_time_from_micros(kNever)));
  writer.put_rest(blob.bytes);
  return writer.take();
}

std::string encode(int64_t counter) {
  Writer writer;
  writer.put(static_cast<uint64_t>(counter));
  return writer.take();
}

Result<DeadLetter> decode_dead_letter(std::string_view bytes) {
  return read<DeadLetter>(bytes, "a dead letter makes no sense");
}
Result<Timer> decode_timer(std::string_view bytes) {
  return read<Timer>(bytes, "a timer makes no sense");
}
Result<StoredMessage> decode_message(std::string_view bytes) {
  return read<StoredMessage>(bytes, "a stored message makes no sense");
}
Result<KeyHolder> decode_key_holder(std::string_view bytes) {
  return read<KeyHolder>(bytes, "an idempotency key makes no sense");
}

Result<Blob> decode_blob(std::string_view bytes) {
  Reader reader(bytes);
  std::optional<WallTime> expires = get_expiry(reader);
  if (!reader.whole()) return fail(ErrorCode::kCorrupt, "a blob makes no sense");
  return Blob{std::string(reader.rest()), expires};
}

Result<std::optional<WallTime>> decode_blob_expiry(std::string_view bytes) {
  Reader reader(bytes);
  std::optional<WallTime> expires = get_expiry(reader);
  if (!reader.whole()) return fail(ErrorCode::kCorrupt, "a blob makes no sense");
  return expires;
}

Result<int64_t> decode_counter(std::string_view bytes) {
  Reader reader(bytes);
  uint64_t number = 0;
  reader.get(number);
  if (!reader.whole()) return fail(ErrorCode::kCorrupt, "a counter makes no sense");
  return static_cast<int64_t>(number);
}

}  // namespace fairlead::store
