// HTTP requests of any bytes, one behind the other (a byte 0x1e between them), read as the server
// reads them and answered by the API.
#include <algorithm>
#include <string>

#include <boost/beast/http.hpp>
#include <boost/json/parse.hpp>

#include "edge/http/api/api.h"
#include "edge/http/api/backend.h"
#include "edge/http/http_limits.h"
#include "fuzz/world.h"

namespace fairlead::fuzz {
namespace {

namespace bhttp = boost::beast::http;

class ApiWorld {
 public:
  ApiWorld() { world_.run(pools_.start()); }

  void ask(std::string_view text) {
    boost::system::error_code error;
    bhttp::request_parser<bhttp::string_body> parser;
    parser.eager(true);
    parser.body_limit(limits::kHttpBodyBytesMax);
    parser.put(boost::asio::buffer(text.data(), text.size()), error);
    if (error == bhttp::error::need_more) error = {};
    if (error || !parser.is_header_done()) return;
    auto& message = parser.get();
    http::Request request;
    std::string_view target = message.target();
    if (!target.starts_with('/')) return;
    for (const auto& field : message) {
      std::string name(field.name_string());
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
      request.headers.emplace_back(std::move(name), field.value());
    }
    size_t mark = std::min(target.find('?'), target.size());
    request.path = target.substr(0, mark);
    auto query = http::parse_query(target.substr(std::min(mark + 1, target.size())));
    if (!query) return;
    request.query = *std::move(query);
    request.body = std::move(message.body());
    request.caller = {TenantId("default"), true, http::Role::kAdmin, {}};
    using enum http::Method;
    for (http::Method method : {kPost, kPut, kPatch, kDelete}) {
      if (message.method_string() == http::to_string(method)) request.method = method;
    }
    http::ReadTools tools{world_.random, world_.clock};
    auto planned = api_.plan(std::move(request), tools);
    if (!planned) return check_reply(planned.error());
    auto reply = world_.run(planned->call(backend_));
    check(reply.has_value(), "a call is answered");
    check_reply(*reply);
  }

 private:
  static void check_reply(http::Reply& reply) {
    check(reply.status >= 200 && reply.status < 600, "an answer has a status");
    check(reply.status != 500, "no request is our fault");
    std::string body = reply.render ? reply.render() : reply.body;
    if (body.empty() || reply.content_type != "application/json") return;
    boost::system::error_code error;
    boost::json::parse(body, error);
    check(!error, "an answer is JSON");
  }

  World world_;
  http::PoolBook pools_{world_.loop, world_.store, world_.pools,
                        [this](auto map) { world_.scheduler.set_pools(std::move(map)); }};
  http::Backend backend_{
      world_.loop, world_.clock,     world_.random, world_.store,  world_.bus,
      world_.log,  world_.scheduler, pools_,        http::Build{}, world_.clock.monotonic()};
  http::Api api_;
};

}  // namespace
}  // namespace fairlead::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  fairlead::fuzz::ApiWorld world;
  while (!input.empty()) {
    size_t end = std::min(input.find('\x1e'), input.size());
    world.ask(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  return 0;
}
