// What a NATS server says to a client, cut out of the bytes that it sends.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::worker {

struct ServerSaid {
  enum class Kind { kInfo, kMessage, kPing, kPong, kOk, kError };
  Kind kind = Kind::kOk;
  std::string text;     // of INFO its JSON, of -ERR its words
  std::string subject;  // and what follows: of a message
  std::string subscription;
  std::string reply;
  std::string headers;
  std::string payload;
};

// Bytes go in as they come; bounded by the longest line and the largest message.
class NatsReader {
 public:
  void add(std::string_view bytes) { held_.append(bytes); }
  // The next whole thing said; nothing when more bytes are needed; an error when it is not NATS.
  Result<std::optional<ServerSaid>> next();

 private:
  Result<std::optional<ServerSaid>> read_message(std::string_view line, size_t body_at);

  std::string held_;
  size_t at_ = 0;
};

// Whether headers tell that nobody listens on the subject of a request.
bool tells_no_responders(std::string_view headers);

}  // namespace fairlead::worker
