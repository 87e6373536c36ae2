// The API: finds the route of a request, asks whether the caller may take it, and reads it.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <vector>

#include "edge/http/api/route.h"

namespace fairlead::http {

// Every route of the API.
Routes all_routes();

// A request that was understood: what to run on the loop, and how long its caller waits.
struct Planned {
  Call call;
  Duration patience{};
};

class Api {
 public:
  explicit Api(Routes routes = all_routes());
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // Any thread. The route that the head of a request asks for; fills in its parameters. The reply
  // says why there is none: no such path or method, or not for this caller.
  std::expected<const Route*, Reply> find(Request& request) const;
  // Any thread. Reads a request whose route was found, and may take its body. The reply says what
  // was not understood.
  static std::expected<Planned, Reply> read(const Route& route, Request& request, ReadTools& tools);
  // Both.
  std::expected<Planned, Reply> plan(Request& request, ReadTools& tools) const;

  // Whether the path is served without a key: health and the description of the API.
  bool is_public(std::string_view path) const;

  const Routes& routes() const { return routes_; }

 private:
  Routes routes_;
  // By number of segments; each segment is a text, or empty where anything stands.
  std::map<size_t, std::vector<std::pair<std::vector<std::string>, const Route*>>> by_length_;
};

// Percent-decoded; nothing when it is malformed, no UTF-8, or holds a zero byte.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space);
// The parameters behind '?'; the error says what is wrong with them.
Result<Pairs> parse_query(std::string_view text);

}  // namespace fairlead::http
