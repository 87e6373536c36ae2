// Every answer that a test gets is held against the published description.
#include "edge/http/api/api_fixture.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "edge/http/api/openapi.h"

namespace fairlead::http {

namespace {

const json::object& document() {
  static const json::object made = openapi_document(all_routes());
  return made;
}

// The part of JSON Schema that the description uses. "" or what is wrong and where.
std::string mismatch(const json::value& schema, const json::value& value, const std::string& at);

std::string kind_mismatch(const std::string& type, const json::value& value) {
  bool right = (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
               (type == "string" && value.is_string()) || (type == "boolean" && value.is_bool()) ||
               (type == "integer" && (value.is_int64() || value.is_uint64())) ||
               (type == "number" && value.is_number());
  return right ? "" : "is " + json::serialize(value).substr(0, 80) + ", must be " + type;
}

std::string object_mismatch(const json::object& schema, const json::object& value,
                            const std::string& at) {
  if (const json::value* required = schema.if_contains("required")) {
    for (const json::value& name : required->as_array()) {
      if (!value.contains(name.as_string())) {
        return at + "." + std::string(name.as_string()) + " is missing";
      }
    }
  }
  const json::value* properties = schema.if_contains("properties");
  const json::value* others = schema.if_contains("additionalProperties");
  for (const auto& [name, held] : value) {
    std::string place = at + "." + std::string(name);
    const json::value* known = properties ? properties->as_object().if_contains(name) : nullptr;
    if (known) {
      if (std::string wrong = mismatch(*known, held, place); !wrong.empty()) return wrong;
    } else if (others && others->is_object()) {
      if (std::string wrong = mismatch(*others, held, place); !wrong.empty()) return wrong;
    } else if (others && others->is_bool() && !others->as_bool()) {
      return place + " is not described";
    }
  }
  return "";
}

std::string mismatch(const json::value& given, const json::value& value, const std::string& at) {
  const json::object& schema = given.as_object();
  if (const json::value* reference = schema.if_contains("$ref")) {
    std::string name(reference->as_string());
    name = name.substr(name.rfind('/') + 1);
    const json::object& schemas = document().at("components").at("schemas").as_object();
    const json::value* named = schemas.if_contains(name);
    return named ? mismatch(*named, value, at) : "there is no schema " + name;
  }
  if (const json::value* nullable = schema.if_contains("nullable");
      nullable && nullable->as_bool() && value.is_null()) {
    return "";
  }
  if (const json::value* choices = schema.if_contains("oneOf")) {
    std::string last;
    for (const json::value& choice : choices->as_array()) {
      last = mismatch(choice, value, at);
      if (last.empty()) return "";
    }
    return last;
  }
  if (const json::value* type = schema.if_contains("type")) {
    std::string wrong = kind_mismatch(std::string(type->as_string()), value);
    if (!wrong.empty()) return at + " " + wrong;
  }
  if (const json::value* words = schema.if_contains("enum")) {
    const json::array& all = words->as_array();
    if (std::ranges::find(all, value) == all.end()) {
      return at + " is " + json::serialize(value) + ", which is not in the list";
    }
  }
  if (const json::value* items = schema.if_contains("items"); items && value.is_array()) {
    for (const json::value& item : value.as_array()) {
      if (std::string wrong = mismatch(*items, item, at + "[]"); !wrong.empty()) return wrong;
    }
  }
  return value.is_object() ? object_mismatch(schema, value.as_object(), at) : "";
}

bool fits(std::string_view pattern, std::string_view path) {
  auto wanted = split(pattern, '/'), given = split(path, '/');
  return std::ranges::equal(wanted, given, [](std::string_view a, std::string_view b) {
    return a.starts_with('{') ? !b.empty() : a == b;
  });
}

}  // namespace

void check_described(const Api& api, const Request& request, const Answered& answer) {
  const Route* found = nullptr;
  for (const Route& route : api.routes()) {
    if (route.method != request.method || !fits(route.pattern, request.path)) continue;
    bool literal = std::string_view(route.pattern).find('{') == std::string_view::npos;
    if (!found || literal) found = &route;
  }
  if (!found) return;  // no such path: there is nothing to describe
  const json::value& operation =
      document().at("paths").at(found->pattern).at(lower(to_string(found->method)));
  const json::object& responses = operation.at("responses").as_object();
  const json::value* response = responses.if_contains(std::to_string(answer.status));
  std::string where = std::string(to_string(found->method)) + " " + found->pattern + " " +
                      std::to_string(answer.status);
  if (!response) {
    // Who may call is described once for all.
    bool general = answer.status == 403 || answer.status == 400;
    EXPECT_TRUE(general) << where << " is not described";
    response = &responses.at("default");
  }
  const json::value* content = response->as_object().if_contains("content");
  if (!content) {
    EXPECT_TRUE(answer.body.is_null()) << where << " has a body that is not described";
    return;
  }
  const json::value* as_json = content->as_object().if_contains("application/json");
  if (!as_json) return;  // a stream
  EXPECT_EQ(mismatch(as_json->at("schema"), answer.body, "body"), "") << where;
}

namespace {

TEST(OpenApi, DescribesEveryRouteWithSchemasThatAreThere) {
  const json::object& schemas = document().at("components").at("schemas").as_object();
  std::set<std::string> operations;
  for (const Route& route : all_routes()) {
    EXPECT_TRUE(operations.insert(route.described.operation).second) << route.pattern;
    for (const char* name : {route.described.answer, route.described.body}) {
      std::string_view schema = name;
      if (schema.empty() || schema.find('/') != schema.npos) continue;
      EXPECT_TRUE(schemas.contains(schema)) << schema;
    }
  }
  EXPECT_GT(operations.size(), 35u);
}

TEST(OpenApi, DescribesTheHeadersThatACallIsGuidedBy) {
  auto headers_of = [](const char* path, const char* method) {
    std::set<std::string> names;
    for (const json::value& one :
         document().at("paths").at(path).at(method).at("parameters").as_array()) {
      if (one.at("in") == "header") names.emplace(one.at("name").as_string());
    }
    return names;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(headers_of("/api/v1/jobs", "post"),
            (Names{"Idempotency-Key", "X-Principal-Id", "X-Tenant-ID"}));
  EXPECT_EQ(headers_of("/api/v1/jobs", "get"), Names{"X-Tenant-ID"});
  EXPECT_EQ(headers_of("/healthz", "get"), Names{});
}

TEST(OpenApi, ACheckerThatCannotFailIsNoChecker) {
  const json::value schema = json::parse(R"({"$ref":"#/components/schemas/Warning"})");
  EXPECT_EQ(mismatch(schema, json::parse(R"({"code":"a","message":"b"})"), "x"), "");
  EXPECT_NE(mismatch(schema, json::parse(R"({"code":"a"})"), "x"), "");
  EXPECT_NE(mismatch(schema, json::parse(R"({"code":1,"message":"b"})"), "x"), "");
  EXPECT_NE(mismatch(schema, json::parse(R"({"code":"a","message":"b","c":1})"), "x"), "");
}

class OpenApiRoute : public ApiTest {};

TEST_F(OpenApiRoute, IsServed) {
  Answered answer = get("/api/v1/openapi.json");
  EXPECT_EQ(answer.body.at("openapi"), "3.0.3");
  EXPECT_TRUE(answer.body.at("paths").as_object().contains("/api/v1/jobs/{id}"));
  EXPECT_TRUE(api_.is_public("/api/v1/openapi.json"));
  EXPECT_FALSE(api_.is_public("/api/v1/jobs"));
}

}  // namespace
}  // namespace fairlead::http
