// What the server says, as bytes.
#pragma once

#include <string>
#include <string_view>

#include "edge/nats/exchange.h"

namespace fairlead::edge::nats {

struct ServerInfo {
  std::string id;
  std::string address;
  uint16_t port = 0;
  bool auth_required = false;
  bool tls_required = false;
  bool tls_verify = false;
};

std::string info_line(const ServerInfo& info, uint64_t client, std::string_view client_address);
std::string error_line(std::string_view text);
// Appends MSG or HMSG; a client that knows no headers gets none.
void append_message(std::string& bytes, const Reply& message, bool with_headers);

// Answers to a publish on a durable subject, as JetStream gives them.
std::string stored_ack(Sequence sequence, bool duplicate);
std::string failed_ack(int code, std::string_view description);

}  // namespace fairlead::edge::nats
