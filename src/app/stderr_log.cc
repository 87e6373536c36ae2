#include "app/stderr_log.h"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/rfc3339.h"

namespace fairlead::app {

namespace {

const char* name_of(Log::Level level) {
  switch (level) {
    case Log::Level::kDebug:
      return "DEBUG";
    case Log::Level::kInfo:
      return "INFO";
    case Log::Level::kWarning:
      return "WARNING";
    case Log::Level::kError:
      return "ERROR";
  }
  return "";
}

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return c > ' ' && c != '"' && c != '=' && c != 0x7f;
  });
}

// Values come from outside now and then: none ends its line, or looks like another field.
std::string in_quotes(std::string_view text) {
  if (is_word(text)) return std::string(text);
  std::string out = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < ' ' || c == 0x7f) {
      out += fmt::format("\\x{:02x}", c);
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + "\"";
}

// The phrase is ours but for what it quotes.
std::string unbroken(std::string_view phrase) {
  std::string out(phrase);
  std::ranges::replace_if(out, [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return out;
}

std::atomic<Log*> protobuf_log = nullptr;

void on_protobuf(google::protobuf::LogLevel level, const char*, int, const std::string& message) {
  Log* log = protobuf_log;
  if (!log) return;
  const Log::Level ours = level >= google::protobuf::LOGLEVEL_ERROR     ? Log::Level::kError
                          : level == google::protobuf::LOGLEVEL_WARNING ? Log::Level::kWarning
                                                                        : Log::Level::kInfo;
  log->write(ours, "protobuf", {{"detail", message}});
}

}  // namespace

std::string StderrLog::line(Level level, std::string_view phrase,
                            std::initializer_list<Field> fields) const {
  const std::string time = rfc3339(clock_.wall());
  if (!style_.json) {
    std::string text = fmt::format("{} {} {}", time, name_of(level), unbroken(phrase));
    for (const auto& [name, value] : fields) text += fmt::format(" {}={}", name, in_quotes(value));
    return text + "\n";
  }
  std::string lower_level = name_of(level);
  std::ranges::transform(lower_level, lower_level.begin(),
                         [](unsigned char c) { return std::tolower(c); });
  boost::json::object object{{"time", time}, {"level", lower_level}, {"message", phrase}};
  for (const auto& [name, value] : fields) object[name] = value;
  return boost::json::serialize(object) + "\n";
}

void StderrLog::write(Level level, std::string_view phrase, std::initializer_list<Field> fields) {
  if (level < style_.level) return;
  const std::string text = line(level, phrase, fields);
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (count <= 0) return;  // nobody reads it
    rest.remove_prefix(static_cast<size_t>(count));
  }
}

ProtobufLog::ProtobufLog(Log& log) {
  protobuf_log = &log;
  google::protobuf::SetLogHandler(&on_protobuf);
}

ProtobufLog::~ProtobufLog() {
  google::protobuf::SetLogHandler(nullptr);
  protobuf_log = nullptr;
}

}  // namespace fairlead::app
