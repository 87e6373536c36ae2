#include "edge/http/api/api.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::http {

namespace {

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

std::vector<std::string_view> segments_of(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return split(path, '/');
}

bool may(const Caller& caller, Access access) {
  switch (access) {
    case Access::kPublic:
    case Access::kRead:
      return true;
    case Access::kWrite:
      return caller.role >= Role::kOperator;
    case Access::kAdmin:
      return caller.role == Role::kAdmin;
    case Access::kCrossTenantAdmin:
      return caller.role == Role::kAdmin && caller.cross_tenant;
  }
  return false;
}

const char* role_needed(Access access) {
  switch (access) {
    case Access::kPublic:
    case Access::kRead:
      return "viewer";
    case Access::kWrite:
      return "operator";
    case Access::kAdmin:
      return "admin";
    case Access::kCrossTenantAdmin:
      return "admin of every tenant";
  }
  return "";
}

std::string granted_to(const Caller& caller, Access access) {
  std::string granted = to_string(caller.role);
  if (access == Access::kCrossTenantAdmin && !caller.cross_tenant) {
    granted += " of tenant " + caller.tenant.str();
  }
  return granted;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus_is_space) {
      c = ' ';
    } else if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      auto high = hex_digit(text[i + 1]);
      auto low = hex_digit(text[i + 2]);
      if (!high || !low) return std::nullopt;
      c = static_cast<char>(*high * 16 + *low);
      i += 2;
    }
    if (c == '\0') return std::nullopt;
    decoded += c;
  }
  if (!is_utf8(decoded)) return std::nullopt;
  return decoded;
}

Result<Pairs> parse_query(std::string_view text) {
  Pairs pairs;
  if (text.empty()) return pairs;
  for (std::string_view part : split(text, '&')) {
    if (part.empty()) continue;
    if (pairs.size() == limits::kHttpQueryParametersMax) {
      return fail(ErrorCode::kInvalid, fmt::format("the query has more than {} parameters",
                                                   limits::kHttpQueryParametersMax));
    }
    size_t equals = std::min(part.find('='), part.size());
    auto name = percent_decoded(part.substr(0, equals), true);
    auto value = percent_decoded(part.substr(std::min(equals + 1, part.size())), true);
    if (!name || !value) {
      return fail(ErrorCode::kInvalid,
                  "the query is not UTF-8, or holds a '%' that two hexadecimal digits do not "
                  "follow");
    }
    pairs.emplace_back(*std::move(name), *std::move(value));
  }
  return pairs;
}

Routes all_routes() {
  Routes routes;
  add_job_routes(routes);
  add_job_reading_routes(routes);
  add_job_result_routes(routes);
  add_placement_routes(routes);
  add_dead_letter_routes(routes);
  add_worker_routes(routes);
  add_pool_routes(routes);
  add_topic_routes(routes);
  add_queue_routes(routes);
  add_memory_routes(routes);
  add_stream_routes(routes);
  add_status_routes(routes);
  add_description_routes(routes);
  return routes;
}

Api::Api(Routes routes) : routes_(std::move(routes)) {
  for (const Route& route : routes_) {
    std::vector<std::string> segments;
    for (std::string_view segment : segments_of(route.pattern)) {
      segments.emplace_back(segment.starts_with('{') ? "" : segment);
    }
    by_length_[segments.size()].emplace_back(std::move(segments), &route);
  }
  // "/dlq/page" is found before "/dlq/{id}".
  for (auto& [length, patterns] : by_length_) {
    std::ranges::sort(patterns, {}, [](const auto& pattern) {
      return std::pair(std::ranges::count(pattern.first, ""), pattern.second);
    });
  }
}

bool Api::is_public(std::string_view path) const {
  return std::ranges::any_of(routes_, [&](const Route& route) {
    return route.access == Access::kPublic && path == route.pattern;
  });
}

std::expected<const Route*, Reply> Api::find(Request& request) const {
  request.parameters.clear();
  std::vector<std::string_view> segments = segments_of(request.path);
  auto patterns = by_length_.find(segments.size());
  std::string allowed;
  const Route* found = nullptr;
  if (patterns != by_length_.end()) {
    for (const auto& [pattern, route] : patterns->second) {
      auto fits = [](const std::string& wanted, std::string_view given) {
        return wanted.empty() ? !given.empty() : wanted == given;
      };
      if (!std::ranges::equal(pattern, segments, fits)) continue;
      if (route->method == request.method) {
        found = route;
        for (size_t i = 0; i < segments.size(); ++i) {
          if (!pattern[i].empty()) continue;
          auto decoded = percent_decoded(segments[i], false);
          if (!decoded) {
            return std::unexpected(problem(400,
                                           "the path is not UTF-8, or holds a '%' that two "
                                           "hexadecimal digits do not follow",
                                           "invalid_request"));
          }
          request.parameters.push_back(*std::move(decoded));
        }
        break;
      }
      allowed += (allowed.empty() ? "" : ", ") + std::string(to_string(route->method));
    }
  }
  if (!found && !allowed.empty()) {
    Reply reply = problem(
        405,
        fmt::format("{} is not for this path, which takes {}", to_string(request.method), allowed),
        "method_not_allowed");
    reply.with("Allow", allowed);
    return std::unexpected(std::move(reply));
  }
  if (!found) return std::unexpected(problem(404, "no such path", "not_found"));
  if (!may(request.caller, found->access)) {
    return std::unexpected(problem(403, "access denied", "access_denied",
                                   {{"required", role_needed(found->access)},
                                    {"granted", granted_to(request.caller, found->access)}}));
  }
  return found;
}

std::expected<Planned, Reply> Api::read(const Route& route, Request& request, ReadTools& tools) {
  auto call = route.read(request, tools);
  if (!call) return std::unexpected(std::move(call.error()));
  return Planned{*std::move(call), route.patience};
}

std::expected<Planned, Reply> Api::plan(Request& request, ReadTools& tools) const {
  auto route = find(request);
  if (!route) return std::unexpected(std::move(route.error()));
  return read(**route, request, tools);
}

}  // namespace fairlead::http
