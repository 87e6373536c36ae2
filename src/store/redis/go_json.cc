#include "store/redis/go_json.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/time_util.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "base/text.h"

namespace fairlead::store::redis {

namespace {

namespace json = boost::json;
namespace pb = google::protobuf;

void append_quoted(std::string& out, std::string_view text) {
  // A service that meets a byte that is no UTF-8 would refuse the whole document.
  bool clean = is_utf8(text);
  out += '"';
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += fmt::format("\\u{:04x}", byte);
    } else if (byte >= 0x80 && !clean) {
      out += "\\ufffd";
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_base64(std::string& out, std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  out += '"';
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    }
    for (size_t k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : kDigits[group >> (18 - 6 * k) & 63];
    }
  }
  out += '"';
}

// Writes a message field by field. The library's own writer takes ten times as long.
class Printer {
 public:
  explicit Printer(std::string& out) : out_(out) {}

  void print(const pb::Message& message) {
    const pb::Descriptor& type = *message.GetDescriptor();
    if (type.well_known_type() != pb::Descriptor::WELLKNOWNTYPE_UNSPECIFIED) {
      std::string text;
      (void)pb::util::MessageToJsonString(message, &text);
      out_ += text.empty() ? "null" : text;
      return;
    }
    out_ += '{';
    bool first = true;
    for (int i = 0; i < type.field_count(); ++i) {
      const pb::FieldDescriptor& field = *type.field(i);
      // Of a choice, and of what may be absent, only what is there.
      if (field.containing_oneof() && !message.GetReflection()->HasField(message, &field)) continue;
      if (!std::exchange(first, false)) out_ += ',';
      append_quoted(out_, field.json_name());
      out_ += ':';
      print_field(message, field);
    }
    out_ += '}';
  }

 private:
  void print_field(const pb::Message& message, const pb::FieldDescriptor& field) {
    const pb::Reflection& reflection = *message.GetReflection();
    if (field.is_map()) return print_map(message, field);
    if (!field.is_repeated()) {
      bool unset = field.message_type() && !reflection.HasField(message, &field);
      return unset ? void(out_ += "null") : print_value(message, field, -1);
    }
    out_ += '[';
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      if (i > 0) out_ += ',';
      print_value(message, field, i);
    }
    out_ += ']';
  }

  void print_map(const pb::Message& message, const pb::FieldDescriptor& field) {
    const pb::Reflection& reflection = *message.GetReflection();
    const pb::FieldDescriptor& key = *field.message_type()->map_key();
    const pb::FieldDescriptor& value = *field.message_type()->map_value();
    out_ += '{';
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      if (i > 0) out_ += ',';
      const pb::Message& entry = reflection.GetRepeatedMessage(message, &field, i);
      print_value(entry, key, -1);  // maps here have texts as keys
      out_ += ':';
      print_value(entry, value, -1);
    }
    out_ += '}';
  }

  // `index` of a list; -1: the field itself.
  void print_value(const pb::Message& message, const pb::FieldDescriptor& field, int index) {
    const pb::Reflection& r = *message.GetReflection();
    bool one = index < 0;
    using Field = pb::FieldDescriptor;
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT32:
        out_ += std::to_string(one ? r.GetInt32(message, &field)
                                   : r.GetRepeatedInt32(message, &field, index));
        return;
      case Field::CPPTYPE_UINT32:
        out_ += std::to_string(one ? r.GetUInt32(message, &field)
                                   : r.GetRepeatedUInt32(message, &field, index));
        return;
      case Field::CPPTYPE_INT64:
        out_ += fmt::format("\"{}\"", one ? r.GetInt64(message, &field)
                                          : r.GetRepeatedInt64(message, &field, index));
        return;
      case Field::CPPTYPE_UINT64:
        out_ += fmt::format("\"{}\"", one ? r.GetUInt64(message, &field)
                                          : r.GetRepeatedUInt64(message, &field, index));
        return;
      case Field::CPPTYPE_DOUBLE:
        return print_real(one ? r.GetDouble(message, &field)
                              : r.GetRepeatedDouble(message, &field, index));
      case Field::CPPTYPE_FLOAT:
        return print_real(one ? r.GetFloat(message, &field)
                              : r.GetRepeatedFloat(message, &field, index));
      case Field::CPPTYPE_BOOL:
        out_ += (one ? r.GetBool(message, &field) : r.GetRepeatedBool(message, &field, index))
                    ? "true"
                    : "false";
        return;
      case Field::CPPTYPE_ENUM: {
        int number =
            one ? r.GetEnumValue(message, &field) : r.GetRepeatedEnumValue(message, &field, index);
        const pb::EnumValueDescriptor* value = field.enum_type()->FindValueByNumber(number);
        return value ? append_quoted(out_, value->name()) : void(out_ += std::to_string(number));
      }
      case Field::CPPTYPE_STRING: {
        std::string scratch;
        const std::string& text =
            one ? r.GetStringReference(message, &field, &scratch)
                : r.GetRepeatedStringReference(message, &field, index, &scratch);
        bool bytes = field.type() == Field::TYPE_BYTES;
        return bytes ? append_base64(out_, text) : append_quoted(out_, text);
      }
      case Field::CPPTYPE_MESSAGE:
        return print(one ? r.GetMessage(message, &field)
                         : r.GetRepeatedMessage(message, &field, index));
    }
  }

  void print_real(double number) {
    if (number != number) {
      out_ += "\"NaN\"";
    } else if (number - number != 0) {
      out_ += number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    } else {
      out_ += fmt::format("{}", number);
    }
  }

  std::string& out_;
};

template <class Integer>
bool parse_whole(std::string_view text, Integer& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

std::string rfc3339(WallTime time) {
  int64_t micros = to_micros(time);
  auto timestamp = pb::util::TimeUtil::MicrosecondsToTimestamp(micros);
  return pb::util::TimeUtil::ToString(timestamp);
}

std::string text_at(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains(name);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

std::string to_protojson(const pb::Message& message) {
  std::string out;
  Printer(out).print(message);
  return out;
}

Result<cordum::agent::v1::JobRequest> request_from_protojson(std::string_view text) {
  cordum::agent::v1::JobRequest request;
  pb::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  auto parsed = pb::util::JsonStringToMessage({text.data(), text.size()}, &request, options);
  if (!parsed.ok()) {
    return fail(ErrorCode::kCorrupt, "a stored request is no JSON of one: " + parsed.ToString());
  }
  return request;
}

std::string event_json(WallTime at, job::State state) {
  return fmt::format(R"({{"ts":{},"state":"{}"}})", to_micros(at), job::to_string(state));
}

Result<job::Event> parse_event(std::string_view text) {
  int64_t micros = 0;
  std::string state;
  boost::system::error_code error;
  if (size_t bar = text.find('|'); bar != text.npos && parse_whole(text.substr(0, bar), micros)) {
    state = text.substr(bar + 1);
  } else if (json::value value = json::parse({text.data(), text.size()}, error);
             !error && value.is_object()) {
    const json::value* at = value.get_object().if_contains("ts");
    if (at && at->is_int64()) micros = at->get_int64();
    state = text_at(value.get_object(), "state");
  }
  auto known = job::parse_state(state);
  if (!known) return fail(ErrorCode::kCorrupt, "an event of a job makes no sense");
  return job::Event{wall_time_from_micros(micros), *known, Epoch(), ""};
}

std::string dead_letter_json(const DeadLetter& entry) {
  return fmt::format(
      R"({{"job_id":{},"topic":{},"status":{},"reason":{},"reason_code":{},"last_state":{},)"
      R"("attempts":{},"created_at":"{}","tenant":{}}})",
      json_quoted(entry.job.str()), json_quoted(entry.topic.str()), json_quoted(entry.status),
      json_quoted(entry.reason), json_quoted(entry.reason_code), json_quoted(entry.last_state),
      entry.attempts, rfc3339(entry.created_at), json_quoted(entry.tenant.str()));
}

Result<DeadLetter> parse_dead_letter(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error);
  if (error || !value.is_object()) {
    return fail(ErrorCode::kCorrupt, "a dead letter is no JSON object");
  }
  const json::object& object = value.get_object();
  DeadLetter entry;
  entry.job = JobId(text_at(object, "job_id"));
  entry.topic = Topic(text_at(object, "topic"));
  entry.tenant = TenantId(text_at(object, "tenant"));
  entry.status = text_at(object, "status");
  entry.reason = text_at(object, "reason");
  entry.reason_code = text_at(object, "reason_code");
  entry.last_state = text_at(object, "last_state");
  if (const json::value* attempts = object.if_contains("attempts");
      attempts && attempts->is_int64()) {
    entry.attempts = static_cast<uint32_t>(attempts->get_int64());
  }
  pb::Timestamp created;
  if (pb::util::TimeUtil::FromString(text_at(object, "created_at"), &created)) {
    entry.created_at = wall_time_from_micros(pb::util::TimeUtil::TimestampToMicroseconds(created));
  }
  return entry;
}

}  // namespace fairlead::store::redis
