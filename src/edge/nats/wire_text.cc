#include "edge/nats/wire_text.h"

#include <iterator>

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/limits.h"

namespace fairlead::edge::nats {

namespace json = boost::json;

namespace {

// Of the protocol spoken: libraries look at it before they use what came with it.
constexpr const char* kVersion = "2.10.0";
// The stream that holds these subjects where there is JetStream.
constexpr const char* kStream = "CORDUM_SYS";

}  // namespace

std::string info_line(const ServerInfo& info, uint64_t client, std::string_view client_address) {
  json::object object{
      {"server_id", info.id}, {"server_name", "fairlead"},
      {"version", kVersion},  {"proto", 1},
      {"host", info.address}, {"port", info.port},
      {"headers", true},      {"max_payload", limits::kPacketBytesMax},
      {"client_id", client},  {"client_ip", client_address},
  };
  if (info.auth_required) object["auth_required"] = true;
  if (info.tls_required) object["tls_required"] = true;
  if (info.tls_verify) object["tls_verify"] = true;
  return "INFO " + json::serialize(object) + "\r\n";
}

std::string error_line(std::string_view text) {
  return fmt::format("-ERR '{}'\r\n", text);
}

void append_message(std::string& bytes, const Reply& message, bool with_headers) {
  auto out = std::back_inserter(bytes);
  const std::string_view headers = with_headers && message.extras
                                       ? std::string_view(message.extras->headers)
                                       : std::string_view{};
  fmt::format_to(out, "{} {} {} ", headers.empty() ? "MSG" : "HMSG", message.subject,
                 *message.name);
  if (message.extras && !message.extras->reply.empty()) {
    fmt::format_to(out, "{} ", message.extras->reply);
  }
  if (!headers.empty()) fmt::format_to(out, "{} ", headers.size());
  fmt::format_to(out, "{}\r\n", headers.size() + message.payload.size());
  bytes.append(headers).append(message.payload).append("\r\n");
}

std::string stored_ack(Sequence sequence, bool duplicate) {
  return fmt::format(R"({{"stream":"{}","seq":{}{}}})", kStream, sequence.value(),
                     duplicate ? R"(,"duplicate":true)" : "");
}

std::string failed_ack(int code, std::string_view description) {
  return json::serialize(json::object{
      {"error", {{"code", code}, {"description", description}}}, {"stream", kStream}, {"seq", 0}});
}

}  // namespace fairlead::edge::nats
