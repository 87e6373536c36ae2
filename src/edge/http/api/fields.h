// Reading the JSON object of a request's body, field by field. The first thing that is wrong is
// kept, in a sentence that says where it is, what it held and what would be right; what is read
// after it does not matter.
//
//   Result<json::value> body = parse_body(request.body);
//   Fields fields(*body, Fields::Unknown::kRefused);
//   std::string reason = fields.text("reason", 512);
//   if (auto wrong = fields.problem()) return *wrong;
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "edge/http/api/message.h"
#include "edge/http/http_limits.h"

namespace fairlead::http {

// A JSON value of bounded depth. An empty text is an empty object. The error says at which byte.
Result<json::value> parse_json(std::string_view text);
// Likewise the body of a request, which has at most kJsonValuesMax values.
Result<json::value> parse_body(std::string_view text);

// A body without the value of one of its members, which is of any kind and may be long: that one is
// given as the text it is.
struct BodyWithout {
  json::value body;       // has null in its place
  std::string_view text;  // within the body; empty when it is absent or null
};
Result<BodyWithout> parse_body_without(std::string_view text, std::string_view member);

class Fields {
 public:
  enum class Unknown { kTolerated, kRefused };

  // A value that is no object is the first problem.
  Fields(const json::value& value, Unknown unknown, std::string path = {});

  // What is absent or null is "", nothing, the default or empty.
  std::string text(const char* name, size_t bytes_max = limits::kSubmitTextBytesMax);
  std::optional<std::string> optional_text(const char* name, size_t bytes_max);
  std::optional<int64_t> number(const char* name, int64_t min = 0,
                                int64_t max = std::numeric_limits<int64_t>::max());
  bool flag(const char* name, bool otherwise = false);
  std::vector<std::string> texts(const char* name, size_t count_max, size_t bytes_max);
  std::optional<std::vector<std::string>> optional_texts(const char* name, size_t count_max,
                                                         size_t bytes_max);
  // Texts by name. Numbers and flags are taken as the text they are written as.
  Pairs pairs(const char* name, size_t count_max, size_t name_bytes_max, size_t value_bytes_max);
  // A time as parse_time (text.h) reads it.
  std::optional<WallTime> time(const char* name, bool upper);
  // nullptr when absent or null.
  const json::value* any(const char* name);
  bool has(const char* name);

  void refuse(const std::string& message);
  // After everything was read: what is wrong, as an answer.
  std::optional<Reply> problem();

 private:
  std::string place(const char* name) const { return path_.empty() ? name : path_ + "." + name; }

  const json::object* object_ = nullptr;
  Unknown unknown_;
  std::string path_;
  std::set<std::string, std::less<>> read_;
  std::string wrong_;
};

// The `limit` of a list: from 1 to kListPageMax, larger ones are cut to it.
std::expected<size_t, Reply> page_limit(const Request& request, size_t otherwise);

}  // namespace fairlead::http
