#include "store/redis/client/reply.h"

#include <charconv>

#include <fmt/core.h>
#include <hiredis/hiredis.h>

#include "base/check.h"

namespace fairlead::store::redis {

namespace {

Reply converted(redisReply& given) {
  Reply reply;
  switch (given.type) {
    case REDIS_REPLY_INTEGER:
      reply.kind = Reply::Kind::kInteger;
      reply.integer = given.integer;
      break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      reply.kind = Reply::Kind::kText;
      reply.text.assign(given.str, given.len);
      break;
    case REDIS_REPLY_ERROR:
      reply.kind = Reply::Kind::kError;
      reply.text.assign(given.str, given.len);
      break;
    case REDIS_REPLY_ARRAY:
      reply.kind = Reply::Kind::kList;
      reply.items.reserve(given.elements);
      for (size_t i = 0; i < given.elements; ++i) {
        reply.items.push_back(converted(*given.element[i]));
      }
      break;
    default:
      break;
  }
  return reply;
}

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> words) {
  for (std::string_view word : words) {
    if (text.starts_with(word)) return true;
  }
  return false;
}

// Before version 7 an error within a script came inside another:
// "ERR Error running script (call to f_…): @user_script:1: @user_script: 1: -OOM command not …"
std::string_view innermost(std::string_view error) {
  size_t inner = error.rfind(": -");
  bool wrapped = error.starts_with("ERR Error running script") && inner != error.npos;
  return wrapped ? error.substr(inner + 3) : error;
}

}  // namespace

std::string Reply::take_text() {
  return kind == Kind::kInteger ? std::to_string(integer) : std::move(text);
}

int64_t Reply::number() const {
  if (kind == Kind::kInteger) return integer;
  int64_t parsed = 0;
  std::from_chars(text.data(), text.data() + text.size(), parsed);
  return parsed;
}

uint64_t Reply::unsigned_number() const {
  return static_cast<uint64_t>(number());
}

Reply& Reply::at(size_t index) {
  if (index >= items.size()) items.resize(index + 1);
  return items[index];
}

void ReplyReader::Free::operator()(redisReader* reader) const {
  redisReaderFree(reader);
}

ReplyReader::ReplyReader() : reader_(redisReaderCreate()) {
  check(reader_ != nullptr, "there is memory for a reader");
  reader_->maxbuf = 0;  // its buffer is kept, not made anew for every larger reply
}

ReplyReader::~ReplyReader() = default;

void ReplyReader::add(std::string_view bytes) {
  redisReaderFeed(reader_.get(), bytes.data(), bytes.size());
}

Result<std::optional<Reply>> ReplyReader::next() {
  void* found = nullptr;
  if (redisReaderGetReply(reader_.get(), &found) != REDIS_OK) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("what came is no Redis reply: {}", reader_->errstr));
  }
  if (!found) return std::nullopt;
  auto* given = static_cast<redisReply*>(found);
  std::optional<Reply> reply = converted(*given);
  freeReplyObject(given);
  return reply;
}

Error error_of(const std::string& whole) {
  std::string text(innermost(whole));
  if (text.starts_with("OOM")) {
    return {ErrorCode::kFull, "Redis has no memory left (maxmemory): " + text};
  }
  bool nothing_changed =
      begins_with_any(text, {"READONLY", "LOADING", "MASTERDOWN", "NOAUTH", "WRONGPASS", "NOPERM",
                             "BUSY", "MISCONF", "NOREPLICAS", "NOSCRIPT", "TRYAGAIN", "CLUSTERDOWN",
                             "MOVED", "UNKILLABLE"});
  return {nothing_changed ? ErrorCode::kUnavailable : ErrorCode::kCorrupt, "Redis says " + text};
}

bool is_master_elsewhere(std::string_view error) {
  return begins_with_any(innermost(error), {"READONLY", "MASTERDOWN"});
}

bool is_missing_script(std::string_view error) {
  return error.starts_with("NOSCRIPT");
}

}  // namespace fairlead::store::redis
