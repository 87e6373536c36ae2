#include "edge/nats/connect_options.h"

#include <fmt/format.h>

#include <boost/json.hpp>

namespace fairlead::edge::nats {

namespace json = boost::json;

namespace {

Result<void> read(const json::object& object, const char* key, bool& into) {
  const json::value* value = object.if_contains(key);
  if (!value || value->is_null()) return {};
  if (!value->is_bool()) return fail(ErrorCode::kInvalid, fmt::format("{} must be a boolean", key));
  into = value->get_bool();
  return {};
}

Result<void> read(const json::object& object, const char* key, std::string& into) {
  const json::value* value = object.if_contains(key);
  if (!value || value->is_null()) return {};
  if (!value->is_string()) return fail(ErrorCode::kInvalid, fmt::format("{} must be a text", key));
  into = std::string_view(value->get_string());
  return {};
}

}  // namespace

Result<ConnectOptions> parse_connect_options(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error || !value.is_object()) {
    return fail(ErrorCode::kInvalid, "options of CONNECT are not a JSON object");
  }
  const json::object& object = value.get_object();
  ConnectOptions options;
  for (auto& [key, into] : {std::pair{"verbose", &options.verbose},
                            {"echo", &options.echo},
                            {"headers", &options.headers},
                            {"no_responders", &options.no_responders}}) {
    if (auto done = read(object, key, *into); !done) return std::unexpected(done.error());
  }
  for (auto& [key, into] : {std::pair{"auth_token", &options.token},
                            {"user", &options.user},
                            {"pass", &options.password}}) {
    if (auto done = read(object, key, *into); !done) return std::unexpected(done.error());
  }
  return options;
}

}  // namespace fairlead::edge::nats
