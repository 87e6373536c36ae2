// What a Redis answers, and how it is read off the wire.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct redisReader;

namespace fairlead::store::redis {

struct Reply {
  enum class Kind { kNone, kInteger, kText, kError, kList };

  Kind kind = Kind::kNone;
  int64_t integer = 0;
  std::string text;  // of an error too
  std::vector<Reply> items;

  bool none() const { return kind == Kind::kNone; }
  bool is_error() const { return kind == Kind::kError; }
  // The text of a number too; "" for nothing.
  std::string take_text();
  // 0 for what is no number.
  int64_t number() const;
  uint64_t unsigned_number() const;
  // The item, or nothing where the list is shorter.
  Reply& at(size_t index);
};

class ReplyReader {
 public:
  ReplyReader();
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  void add(std::string_view bytes);
  // The next whole reply; nothing when more bytes are needed; an error when they are no replies.
  Result<std::optional<Reply>> next();

 private:
  struct Free {
    void operator()(redisReader* reader) const;
  };
  std::unique_ptr<redisReader, Free> reader_;
};

// What an error reply means to a caller: kUnavailable for what changed nothing and may be tried
// again, kFull when memory is at its limit, kCorrupt for what no second try will mend.
Error error_of(const std::string& whole);
// The server is no longer the one to ask.
bool is_master_elsewhere(std::string_view error);
bool is_missing_script(std::string_view error);

}  // namespace fairlead::store::redis
