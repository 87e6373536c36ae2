#include "edge/http/api/openapi.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/text.h"
#include "edge/http/api/route.h"

namespace fairlead::http {

namespace {

json::object reference(const char* schema) {
  return {{"$ref", std::string("#/components/schemas/") + schema}};
}

json::object content_of(const char* schema) {
  // A schema's name has no slash; what has one is a media type.
  if (std::string_view(schema).find('/') != std::string_view::npos) {
    return {{schema, {{"schema", {{"type", "string"}}}}}};
  }
  return {{"application/json", {{"schema", reference(schema)}}}};
}

json::object header_parameter(const char* name, const char* description) {
  return {{"name", name},
          {"in", "header"},
          {"description", description},
          {"schema", {{"type", "string"}}}};
}

json::array parameters_of(const Route& route) {
  json::array parameters;
  if (route.access != Access::kPublic) {
    parameters.push_back(header_parameter(
        "X-Tenant-ID", "The tenant to act for, or X-Cordum-Tenant; without it the key's own"));
  }
  if (route.method == Method::kPost && route.pattern == kSubmitPath) {
    parameters.push_back(header_parameter(
        "Idempotency-Key", "A repeat of a key is answered with the first job; or the field"));
    parameters.push_back(
        header_parameter("X-Principal-Id", "Who asks, unless the key or the body says it"));
  }
  for (std::string_view segment : split(route.pattern, '/')) {
    if (!segment.starts_with('{')) continue;
    parameters.push_back(json::object{{"name", segment.substr(1, segment.size() - 2)},
                                      {"in", "path"},
                                      {"required", true},
                                      {"schema", {{"type", "string"}}}});
  }
  for (const char* name : route.described.query) {
    parameters.push_back(
        json::object{{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}}}});
  }
  return parameters;
}

json::object responses_of(const Route& route) {
  const Described& described = route.described;
  json::object responses;
  json::object good{{"description", described.summary}};
  if (*described.answer) good["content"] = content_of(described.answer);
  responses[std::to_string(described.status)] = good;
  // What is made with 201 is made anew with 200.
  if (described.status == 201) responses["200"] = good;
  json::object bad{{"description", "What was wrong"}, {"content", content_of("Problem")}};
  for (int status : described.problems) {
    // A probe that fails still says what it checked.
    bool probe = std::string_view(described.answer) == "Health";
    responses[std::to_string(status)] = probe ? good : bad;
  }
  // What every call may meet before it comes to its route: no key, a wrong role or tenant, a body
  // or headers that are too large, too many calls, a server that stops.
  for (const char* status : {"401", "403", "413", "429", "431", "503"}) {
    if (!responses.contains(status)) responses[status] = bad;
  }
  responses["default"] = std::move(bad);
  return responses;
}

// Which keys open the route.
const char* for_whom(Access access) {
  switch (access) {
    case Access::kPublic:
      return "For everybody.";
    case Access::kRead:
      return "For every key.";
    case Access::kWrite:
      return "For operators and admins.";
    case Access::kAdmin:
      return "For admins.";
    case Access::kCrossTenantAdmin:
      return "For admins whose key is bound to no tenant: it changes what all tenants share.";
  }
  return "";
}

json::object operation_of(const Route& route) {
  const Described& described = route.described;
  json::object operation{{"operationId", described.operation},
                         {"summary", described.summary},
                         {"description", for_whom(route.access)},
                         {"parameters", parameters_of(route)},
                         {"responses", responses_of(route)}};
  if (*described.body) operation["requestBody"] = {{"content", content_of(described.body)}};
  if (route.access == Access::kPublic) operation["security"] = json::array{};
  return operation;
}

}  // namespace

json::object openapi_document(const Routes& routes) {
  json::object paths;
  for (const Route& route : routes) {
    json::value& path = paths[route.pattern];
    if (!path.is_object()) path = json::object{};
    path.as_object()[lower(to_string(route.method))] = operation_of(route);
  }
  json::object schemas;
  for (const char* part : {kJobSchemas, kFleetSchemas, kServerSchemas}) {
    for (auto& [name, schema] : json::parse(part).as_object()) schemas[name] = schema;
  }
  return {{"openapi", "3.0.3"},
          {"info",
           {{"title", "Fairlead"},
            {"version", "1"},
            {"description", "Jobs for agent workers: submit, follow, explain, cancel."}}},
          {"paths", std::move(paths)},
          {"components",
           {{"schemas", std::move(schemas)},
            {"securitySchemes",
             {{"key", {{"type", "apiKey"}, {"in", "header"}, {"name", "X-API-Key"}}},
              {"bearer", {{"type", "http"}, {"scheme", "bearer"}}}}}}},
          {"security", json::array{json::object{{"key", json::array{}}},
                                   json::object{{"bearer", json::array{}}}}}};
}

namespace {

Task<Reply> description(Backend&) {
  // Made once: routes do not change.
  static const std::string text = json::serialize(openapi_document(all_routes()));
  Reply reply;
  reply.body = text;
  co_return reply;
}

std::expected<Call, Reply> read_description(Request&, ReadTools&) {
  return [](Backend& backend) { return description(backend); };
}

}  // namespace

void add_description_routes(Routes& routes) {
  routes.push_back(
      {Method::kGet,
       "/api/v1/openapi.json",
       Access::kPublic,
       read_description,
       {.operation = "getDescription", .summary = "This description", .answer = "Anything"}});
}

}  // namespace fairlead::http
