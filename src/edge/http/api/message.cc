#include "edge/http/api/message.h"

#include <algorithm>
#include <cctype>

#include <boost/json/serialize.hpp>

#include "base/text.h"

namespace fairlead::http {

namespace {

std::string_view find(const Pairs& pairs, std::string_view name) {
  auto found = std::ranges::find(pairs, name, &Pairs::value_type::first);
  return found == pairs.end() ? std::string_view() : std::string_view(found->second);
}

std::string code_of(std::string_view message) {
  std::string code;
  for (char c : message) {
    auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte)) {
      code += static_cast<char>(std::tolower(byte));
    } else if (!code.empty() && code.back() != '_') {
      code += '_';
    }
  }
  while (!code.empty() && code.back() == '_') code.pop_back();
  return code;
}

}  // namespace

const char* to_string(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kPatch:
      return "PATCH";
    case Method::kDelete:
      return "DELETE";
  }
  return "";
}

const char* to_string(Role role) {
  switch (role) {
    case Role::kViewer:
      return "viewer";
    case Role::kOperator:
      return "operator";
    case Role::kAdmin:
      return "admin";
  }
  return "";
}

std::string_view Request::header(std::string_view name) const {
  return find(headers, name);
}

std::string_view Request::parameter(std::string_view name) const {
  return find(query, name);
}

std::vector<std::string> Request::parameters_of(std::string_view name) const {
  std::vector<std::string> all;
  for (const auto& [key, value] : query) {
    if (key != name) continue;
    for (std::string_view part : split(value, ',')) {
      if (!trim(part).empty()) all.emplace_back(trim(part));
    }
  }
  return all;
}

bool Request::openapi_profile() const {
  return header("x-cordum-profile") == "openapi" ||
         header("user-agent").starts_with("cordum-sdk-python/");
}

std::string text_of(const json::value& value) {
  return well_formed(json::serialize(value));
}

void add_member(std::string& object, std::string_view name, std::string_view value) {
  object.back() = ',';
  object.append("\"").append(name).append("\":").append(value).append("}");
}

Reply reply_json(int status, const json::value& value) {
  Reply reply;
  reply.status = status;
  reply.body = text_of(value);
  return reply;
}

Reply reply_later(int status, size_t bytes, std::move_only_function<json::value()> make) {
  return reply_text_later(status, bytes,
                          [make = std::move(make)]() mutable { return text_of(make()); });
}

Reply reply_text_later(int status, size_t bytes, std::move_only_function<std::string()> make) {
  Reply reply;
  reply.status = status;
  reply.render_bytes = bytes;
  reply.render = std::move(make);
  return reply;
}

Reply reply_empty(int status) {
  Reply reply;
  reply.status = status;
  return reply;
}

Reply problem(int status, std::string_view message, std::string_view code, json::object extra) {
  json::object body;
  body["error"] = message;
  body["code"] = code.empty() ? code_of(message) : std::string(code);
  body["status"] = status;
  for (auto& [name, value] : extra) body[name] = value;
  Reply reply = reply_json(status, body);
  if (status >= 500) reply.detail = message;
  return reply;
}

json::object warning(std::string_view code, std::string_view message) {
  return {{"code", code}, {"message", message}};
}

static Reply shown_problem(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalid:
      return problem(400, error.message, "invalid");
    case ErrorCode::kNotFound:
      return problem(404, error.message, "not_found");
    case ErrorCode::kFull:
      return std::move(
          problem(503, "the store takes no new work", "storage_full").with("Retry-After", "30"));
    case ErrorCode::kCorrupt:
      return problem(500, "stored data cannot be read", "stored_data_corrupt");
    case ErrorCode::kUnavailable:
    case ErrorCode::kUnknown:
    case ErrorCode::kCancelled:
      break;
  }
  return std::move(
      problem(503, "the store did not answer", "unavailable").with("Retry-After", "1"));
}

Reply problem_of(const Error& error) {
  Reply reply = shown_problem(error);
  if (!reply.detail.empty()) reply.detail += ": " + error.message;
  return reply;
}

}  // namespace fairlead::http
