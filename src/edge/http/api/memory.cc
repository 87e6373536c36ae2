// Stored payloads, for people who look into a job: ctx:, res:, art: and mem: keys.
#include <fmt/core.h>

#include "base/text.h"
#include "edge/http/api/backend.h"
#include "edge/http/api/json_text.h"
#include "edge/http/api/route.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

namespace {

std::string shown(const std::string& key, const std::string& bytes) {
  std::string body = text_of(json::object{{"pointer", pointer_to(key)},
                                          {"key", key},
                                          {"kind", key.substr(0, key.find(':'))},
                                          {"size_bytes", bytes.size()},
                                          {"base64", base64(bytes)}});
  if (is_json(bytes)) add_member(body, "json", bytes);
  // Text is what a JSON text can hold as it is.
  if (bytes.find('\0') == std::string::npos && is_utf8(bytes)) {
    add_member(body, "text", text_of(json::value(bytes)));
  }
  return body;
}

Task<Reply> memory(Backend& backend, Caller caller, std::string key) {
  std::string kind = key.substr(0, key.find(':'));
  if (!caller.all_tenants) {
    // A payload is its job's; what belongs to no job is nobody's in particular.
    Result<store::Loaded> loaded =
        co_await backend.store.load(JobId(key.substr(kind.size() + 1)), {});
    if (!loaded) co_return problem_of(loaded.error());
    if (!loaded->record || !caller.sees(loaded->record->tenant)) {
      co_return problem(404, "nothing is stored under this key", "not_found");
    }
  }
  auto blob = co_await backend.store.blob(key, limits::kMemoryShownBytesMax);
  if (!blob) co_return problem_of(blob.error());
  if (!*blob) co_return problem(404, "nothing is stored under this key", "not_found");
  if ((*blob)->size > limits::kMemoryShownBytesMax) {
    co_return problem(413,
                      fmt::format("it has {} bytes, at most {} are shown: fetch it from the "
                                  "payload listener",
                                  (*blob)->size, limits::kMemoryShownBytesMax),
                      "payload_too_large");
  }
  const size_t size = (*blob)->bytes.size();
  co_return reply_text_later(200, size, [key = std::move(key), bytes = std::move((*blob)->bytes)] {
    return shown(key, bytes);
  });
}

std::expected<Call, Reply> read_memory(Request& request, ReadTools&) {
  std::string_view given = request.parameter("ptr");
  if (given.empty()) given = request.parameter("key");
  std::string key(key_of_pointer(given));
  bool known = false;
  for (const char* kind : {"ctx:", "res:", "art:", "mem:"}) {
    known |= key.starts_with(kind) && key.size() > 4;
  }
  if (key.size() > limits::kPayloadKeyBytesMax) {
    return std::unexpected(problem(400,
                                   fmt::format("the key has {} bytes, must have at most {}",
                                               key.size(), limits::kPayloadKeyBytesMax),
                                   "invalid_request"));
  }
  if (!known) {
    return std::unexpected(problem(400,
                                   fmt::format("ptr or key is \"{}\", must name a ctx:, res:, art: "
                                               "or mem: key",
                                               given.substr(0, 64)),
                                   "invalid_request"));
  }
  return [caller = request.caller, key = std::move(key)](Backend& backend) {
    return memory(backend, caller, key);
  };
}

}  // namespace

void add_memory_routes(Routes& routes) {
  routes.push_back({Method::kGet,
                    "/api/v1/memory",
                    Access::kAdmin,
                    read_memory,
                    {.operation = "getMemory",
                     .summary = "A stored payload",
                     .query = {"ptr", "key"},
                     .answer = "Memory",
                     .problems = {400, 404, 413, 503}}});
}

}  // namespace fairlead::http
