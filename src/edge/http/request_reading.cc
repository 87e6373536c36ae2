#include "edge/http/request_reading.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "edge/http/api/api.h"
#include "edge/http/http_limits.h"

namespace fairlead::http {

namespace bhttp = boost::beast::http;

namespace {

constexpr size_t kRequestIdBytesMax = 128;

std::optional<Method> method_of(bhttp::verb verb) {
  if (verb == bhttp::verb::get || verb == bhttp::verb::head) return Method::kGet;
  if (verb == bhttp::verb::post) return Method::kPost;
  if (verb == bhttp::verb::put) return Method::kPut;
  if (verb == bhttp::verb::patch) return Method::kPatch;
  if (verb == bhttp::verb::delete_) return Method::kDelete;
  // What a page may do: told before it comes to methods.
  if (verb == bhttp::verb::options) return Method::kGet;
  return std::nullopt;
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

std::unexpected<Reply> bad(std::string_view message) {
  return std::unexpected(problem(400, message, "bad_http"));
}

}  // namespace

std::optional<std::string> given_request_id(const WireRequest& message) {
  std::string_view given = trim(message["X-Request-Id"]);
  if (given.empty() || given.size() > kRequestIdBytesMax || !is_plain(given)) return std::nullopt;
  return std::string(given);
}

std::expected<Request, Reply> read_head(const WireRequest& message) {
  Request request;
  size_t hosts = 0;
  for (const auto& field : message) {
    // Values become fields of jobs, and parts of answers: both are UTF-8.
    std::string_view value = field.value();
    if (!is_utf8(value)) {
      return bad(fmt::format("the value of header {} is not UTF-8",
                             std::string_view(field.name_string()).substr(0, 64)));
    }
    hosts += field.name() == bhttp::field::host;
    request.headers.emplace_back(lower(field.name_string()), value);
  }
  // Who asks about a host must mean the same one as who answers.
  if (hosts > 1) return bad("there is more than one Host header");
  if (hosts == 0 && message.version() >= 11) return bad("there is no Host header");

  std::string_view target = message.target();
  if (target.size() > limits::kHttpTargetBytesMax) {
    return std::unexpected(problem(414,
                                   fmt::format("the target has {} bytes, must have at most {}",
                                               target.size(), limits::kHttpTargetBytesMax),
                                   "target_too_long"));
  }
  if (!target.starts_with('/')) return bad("the target must begin with /");
  size_t mark = std::min(target.find('?'), target.size());
  request.path = target.substr(0, mark);
  auto query = parse_query(target.substr(std::min(mark + 1, target.size())));
  if (!query) return std::unexpected(problem(400, query.error().message, "invalid_request"));
  request.query = *std::move(query);
  auto method = method_of(message.method());
  if (!method) {
    return std::unexpected(problem(
        501,
        fmt::format("{} is not served", std::string_view(message.method_string()).substr(0, 32)),
        "method_not_served"));
  }
  request.method = *method;
  return request;
}

}  // namespace fairlead::http
