// Cuts what a client sends into operations, however the bytes are cut on their way. It holds at
// most one line or one message.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "edge/nats/operation.h"

namespace fairlead::edge::nats {

class Parser {
 public:
  enum class Outcome {
    kMore,       // all bytes are used and no operation is complete
    kOperation,  // take() has one; there may be bytes left
    kBroken,     // error() says why; the connection cannot go on
  };

  // Uses bytes from the front of `bytes`.
  Outcome parse(std::string_view& bytes);
  Operation take() { return std::move(operation_); }
  // As NATS says it to clients.
  const std::string& error() const { return error_; }

  // Until then nothing but CONNECT is accepted: strangers cannot make us hold messages.
  void admit() { admitted_ = true; }
  bool admitted() const { return admitted_; }

  // Bytes held of what is not complete.
  size_t held() const { return line_.size() + body_.size(); }

 private:
  Outcome parse_line(std::string_view line);
  Outcome parse_publish(std::string_view arguments, bool with_headers);
  Outcome parse_subscribe(std::string_view arguments);
  Outcome parse_unsubscribe(std::string_view arguments);
  Outcome parse_body(std::string_view& bytes);
  Outcome broken(std::string_view why);

  std::string line_;  // the beginning of one
  std::string body_;
  bool in_body_ = false;
  size_t body_bytes_ = 0;  // headers, payload and the line's end
  size_t header_bytes_ = 0;
  bool admitted_ = false;
  bool is_broken_ = false;
  Operation operation_;
  std::string error_;
};

}  // namespace fairlead::edge::nats
