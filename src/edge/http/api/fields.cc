#include "edge/http/api/fields.h"

#include <charconv>

#include <fmt/core.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "edge/http/api/json_text.h"
#include "edge/http/api/text.h"

namespace fairlead::http {

namespace {

const char* kind_of(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a flag";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return "a number";
    case json::kind::string:
      return "a text";
    case json::kind::array:
      return "a list";
    case json::kind::object:
      return "an object";
  }
  return "";
}

}  // namespace

Result<json::value> parse_json(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) return json::object{};
  json::parse_options options;
  options.max_depth = limits::kJsonDepthMax;
  boost::system::error_code error;
  json::value value = json::parse(text, error, {}, options);
  if (!error) return value;
  auto outline = outline_of(text);
  return fail(ErrorCode::kInvalid,
              "no JSON: " + (outline ? error.message() : outline.error().message));
}

Result<json::value> parse_body(std::string_view text) {
  auto parsed = parse_body_without(text, {});
  if (!parsed) return std::unexpected(parsed.error());
  return std::move(parsed->body);
}

Result<BodyWithout> parse_body_without(std::string_view text, std::string_view member) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) return BodyWithout{json::object{}, {}};
  auto outline = outline_of(text, member);
  if (!outline) {
    return fail(ErrorCode::kInvalid, "the body is no JSON: " + outline.error().message);
  }
  if (outline->values > limits::kJsonValuesMax) {
    return fail(ErrorCode::kInvalid, fmt::format("the body has {} values, must have at most {}",
                                                 outline->values, limits::kJsonValuesMax));
  }
  const std::string_view found = outline->member;
  if (found.empty()) {
    auto body = parse_json(text);
    if (!body) return std::unexpected(body.error());
    return BodyWithout{*std::move(body), {}};
  }
  const auto before = static_cast<size_t>(found.data() - text.data());
  std::string rest(text.substr(0, before));
  rest.append("null").append(text.substr(before + found.size()));
  auto body = parse_json(rest);
  if (!body) return std::unexpected(body.error());
  return BodyWithout{*std::move(body), found == "null" ? std::string_view() : found};
}

Fields::Fields(const json::value& value, Unknown unknown, std::string path)
    : unknown_(unknown), path_(std::move(path)) {
  object_ = value.if_object();
  if (!object_) {
    wrong_ = fmt::format("{} is {}, must be an object", path_.empty() ? "the body" : path_,
                         kind_of(value));
  }
}

void Fields::refuse(const std::string& message) {
  if (wrong_.empty()) wrong_ = message;
}

const json::value* Fields::any(const char* name) {
  if (!object_) return nullptr;
  read_.insert(name);
  const json::value* value = object_->if_contains(name);
  return value && !value->is_null() ? value : nullptr;
}

bool Fields::has(const char* name) {
  return any(name) != nullptr;
}

std::optional<std::string> Fields::optional_text(const char* name, size_t bytes_max) {
  const json::value* value = any(name);
  if (!value) return std::nullopt;
  const json::string* text = value->if_string();
  if (!text) {
    refuse(fmt::format("{} is {}, must be a text", place(name), kind_of(*value)));
    return std::nullopt;
  }
  if (text->size() > bytes_max) {
    refuse(
        fmt::format("{} has {} bytes, must have at most {}", place(name), text->size(), bytes_max));
    return std::nullopt;
  }
  return std::string(*text);
}

std::string Fields::text(const char* name, size_t bytes_max) {
  return optional_text(name, bytes_max).value_or("");
}

std::optional<int64_t> Fields::number(const char* name, int64_t min, int64_t max) {
  const json::value* value = any(name);
  if (!value) return std::nullopt;
  boost::system::error_code error;
  auto number = value->to_number<int64_t>(error);
  if (error) {
    refuse(fmt::format("{} is {}, must be a whole number", place(name),
                       json::serialize(*value).substr(0, 64)));
    return std::nullopt;
  }
  if (number < min || number > max) {
    refuse(fmt::format("{} is {}, must be from {} to {}", place(name), number, min, max));
    return std::nullopt;
  }
  return number;
}

bool Fields::flag(const char* name, bool otherwise) {
  const json::value* value = any(name);
  if (!value) return otherwise;
  if (!value->is_bool()) {
    refuse(fmt::format("{} is {}, must be true or false", place(name), kind_of(*value)));
    return otherwise;
  }
  return value->as_bool();
}

std::optional<std::vector<std::string>> Fields::optional_texts(const char* name, size_t count_max,
                                                               size_t bytes_max) {
  const json::value* value = any(name);
  if (!value) return std::nullopt;
  const json::array* list = value->if_array();
  if (!list) {
    refuse(fmt::format("{} is {}, must be a list of texts", place(name), kind_of(*value)));
    return std::nullopt;
  }
  if (list->size() > count_max) {
    refuse(fmt::format("{} has {} entries, must have at most {}", place(name), list->size(),
                       count_max));
    return std::nullopt;
  }
  std::vector<std::string> texts;
  for (const json::value& entry : *list) {
    const json::string* text = entry.if_string();
    if (!text) {
      refuse(
          fmt::format("{}[{}] is {}, must be a text", place(name), texts.size(), kind_of(entry)));
      return std::nullopt;
    }
    if (text->size() > bytes_max) {
      refuse(fmt::format("{}[{}] has {} bytes, must have at most {}", place(name), texts.size(),
                         text->size(), bytes_max));
      return std::nullopt;
    }
    texts.emplace_back(*text);
  }
  return texts;
}

std::vector<std::string> Fields::texts(const char* name, size_t count_max, size_t bytes_max) {
  return optional_texts(name, count_max, bytes_max).value_or(std::vector<std::string>{});
}

Pairs Fields::pairs(const char* name, size_t count_max, size_t name_bytes_max,
                    size_t value_bytes_max) {
  const json::value* value = any(name);
  if (!value) return {};
  const json::object* object = value->if_object();
  if (!object) {
    refuse(fmt::format("{} is {}, must be an object of texts", place(name), kind_of(*value)));
    return {};
  }
  if (object->size() > count_max) {
    refuse(fmt::format("{} has {} entries, must have at most {}", place(name), object->size(),
                       count_max));
    return {};
  }
  Pairs pairs;
  for (const auto& [key, held] : *object) {
    if (held.is_object() || held.is_array() || held.is_null()) {
      refuse(fmt::format("{}.{} is {}, must be a text", place(name), std::string_view(key),
                         kind_of(held)));
      return {};
    }
    std::string text = held.is_string() ? std::string(held.get_string()) : json::serialize(held);
    if (key.empty() || key.size() > name_bytes_max) {
      refuse(fmt::format("a name in {} has {} bytes, must have 1 to {}", place(name), key.size(),
                         name_bytes_max));
      return {};
    }
    if (text.size() > value_bytes_max) {
      refuse(fmt::format("{}.{} has {} bytes, must have at most {}", place(name),
                         std::string_view(key), text.size(), value_bytes_max));
      return {};
    }
    pairs.emplace_back(std::string(key), std::move(text));
  }
  return pairs;
}

std::optional<WallTime> Fields::time(const char* name, bool upper) {
  const json::value* value = any(name);
  if (!value) return std::nullopt;
  std::string text =
      value->is_string() ? std::string(value->get_string()) : json::serialize(*value);
  auto time = parse_time(text, upper ? Bound::kUpper : Bound::kLower);
  if (!time) {
    refuse(fmt::format("{} is {}, must be a time: a number since 1970 or 2026-01-02T03:04:05Z",
                       place(name), text.substr(0, 64)));
  }
  return time;
}

std::optional<Reply> Fields::problem() {
  if (object_ && unknown_ == Unknown::kRefused) {
    for (const auto& [key, value] : *object_) {
      if (!read_.contains(std::string_view(key))) {
        std::string known;
        for (const std::string& name : read_) known += (known.empty() ? "" : ", ") + name;
        refuse(fmt::format("{} is not known here, there may be: {}",
                           place(std::string(key).substr(0, 64).c_str()), known));
      }
    }
  }
  if (wrong_.empty()) return std::nullopt;
  return http::problem(400, wrong_, "invalid_request");
}

std::expected<size_t, Reply> page_limit(const Request& request, size_t otherwise) {
  std::string_view text = request.parameter("limit");
  if (text.empty()) return otherwise;
  int64_t limit = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error != std::errc() || end != text.data() + text.size() || limit < 1) {
    return std::unexpected(problem(400,
                                   fmt::format("limit is \"{}\", must be a number from 1 to {}",
                                               text.substr(0, 64), limits::kListPageMax),
                                   "invalid_request"));
  }
  return std::min(static_cast<size_t>(limit), limits::kListPageMax);
}

}  // namespace fairlead::http
