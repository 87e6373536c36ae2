#include "edge/resp/parser.h"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "base/text.h"

namespace fairlead::edge::resp {

namespace {

// Before credentials were shown.
constexpr size_t kStrangerArgumentsMax = 10;
constexpr size_t kStrangerBulkBytesMax = 16 << 10;

std::optional<int64_t> number_of(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A browser that was tricked into talking to us: its words must not become commands.
bool looks_like_http(std::string_view word) {
  for (std::string_view method :
       {"get", "post", "put", "delete", "head", "options", "patch", "trace", "connect", "host:"}) {
    // GET is also a command: there the first argument tells.
    if (method != "get" && lower(word) == method) return true;
  }
  return false;
}

// Words between blanks; those in quotes may hold blanks, and in double quotes \n \r \t \xHH.
// Nothing when a quote is not closed.
std::optional<Arguments> words_of(std::string_view line) {
  Arguments words;
  for (size_t at = 0; at < line.size();) {
    if (line[at] == ' ' || line[at] == '\t') {
      ++at;
      continue;
    }
    std::string word;
    char quote = 0;
    for (; at < line.size(); ++at) {
      char byte = line[at];
      if (quote == 0 && (byte == ' ' || byte == '\t')) break;
      if (quote == 0 && (byte == '"' || byte == '\'') && word.empty()) {
        quote = byte;
      } else if (quote != 0 && byte == quote) {
        if (at + 1 < line.size() && line[at + 1] != ' ' && line[at + 1] != '\t') {
          return std::nullopt;
        }
        quote = 0;
        ++at;
        break;
      } else if (byte == '\\' && quote != 0 && at + 1 < line.size()) {
        char next = line[++at];
        if (quote == '\'') {
          if (next != '\'') word.push_back('\\');
          word.push_back(next);
        } else if (next == 'x' && at + 2 < line.size()) {
          int value = 0;
          auto [end, error] = std::from_chars(&line[at + 1], &line[at + 1] + 2, value, 16);
          if (error != std::errc() || end != &line[at + 1] + 2) return std::nullopt;
          word.push_back(static_cast<char>(value));
          at += 2;
        } else {
          word.push_back(next == 'n' ? '\n' : next == 'r' ? '\r' : next == 't' ? '\t' : next);
        }
      } else {
        word.push_back(byte);
      }
    }
    if (quote != 0) return std::nullopt;
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

Parser::Outcome Parser::broken(std::string why) {
  is_broken_ = true;
  error_ = std::move(why);
  line_ = {};
  arguments_ = {};
  held_ = 0;
  return Outcome::kBroken;
}

Parser::Outcome Parser::parse(std::string_view& bytes) {
  while (!is_broken_) {
    if (in_bulk_) {
      Outcome outcome = parse_bulk(bytes);
      if (outcome != Outcome::kMore || in_bulk_) return outcome;
      continue;
    }
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() > limits::kInlineCommandBytesMax) {
      return broken(missing_ == 0 ? "ERR Protocol error: too big inline request"
                                  : "ERR Protocol error: too big bulk count string");
    }
    if (end == std::string_view::npos) {
      line_.append(part);
      bytes = {};
      return Outcome::kMore;
    }
    bytes.remove_prefix(end + 1);
    std::string line = std::exchange(line_, {}).append(part);
    if (line.ends_with('\r')) line.pop_back();
    Outcome outcome = parse_line(line);
    if (outcome != Outcome::kMore) return outcome;
  }
  return Outcome::kBroken;
}

Parser::Outcome Parser::parse_line(std::string_view line) {
  if (missing_ > 0) {
    auto count = line.starts_with('$') ? number_of(line.substr(1)) : std::nullopt;
    if (!line.starts_with('$')) return broken("ERR Protocol error: expected '$'");
    const size_t max = admitted_ ? limits::kBlobBytesMax : kStrangerBulkBytesMax;
    if (!count || *count < 0 || static_cast<size_t>(*count) > max) {
      return broken(admitted_ || !count || *count < 0
                        ? "ERR Protocol error: invalid bulk length"
                        : "ERR Protocol error: unauthenticated bulk length");
    }
    bulk_bytes_ = static_cast<size_t>(*count);
    in_bulk_ = true;
    arguments_.emplace_back();
    return Outcome::kMore;
  }
  if (line.empty()) return Outcome::kMore;
  if (!line.starts_with('*')) return parse_inline(line);

  auto count = number_of(line.substr(1));
  const size_t max = admitted_ ? limits::kCommandArgumentsMax : kStrangerArgumentsMax;
  if (!count || *count > static_cast<int64_t>(max)) {
    return broken(admitted_ || !count ? "ERR Protocol error: invalid multibulk length"
                                      : "ERR Protocol error: unauthenticated multibulk length");
  }
  if (*count <= 0) return Outcome::kMore;
  arguments_ = {};
  held_ = 0;
  missing_ = static_cast<size_t>(*count);
  return Outcome::kMore;
}

Parser::Outcome Parser::parse_inline(std::string_view line) {
  std::optional<Arguments> words = words_of(line);
  if (!words) return broken("ERR Protocol error: unbalanced quotes in request");
  if (words->empty()) return Outcome::kMore;
  if (words->size() > limits::kCommandArgumentsMax) {
    return broken("ERR Protocol error: too many words");
  }
  // Nothing is said: who sent it would not understand.
  if (looks_like_http(words->front()) || words->back().starts_with("HTTP/")) return broken({});
  arguments_ = *std::move(words);
  return Outcome::kCommand;
}

Parser::Outcome Parser::parse_bulk(std::string_view& bytes) {
  std::string& argument = arguments_.back();
  std::string_view part = bytes.substr(0, bulk_bytes_ + 2 - argument.size());
  bytes.remove_prefix(part.size());
  argument.append(part);
  held_ += part.size();
  if (argument.size() < bulk_bytes_ + 2) return Outcome::kMore;
  if (!argument.ends_with("\r\n")) return broken("ERR Protocol error: expected end of line");
  argument.resize(bulk_bytes_);
  in_bulk_ = false;
  if (--missing_ > 0) return Outcome::kMore;
  held_ = 0;
  return Outcome::kCommand;
}

}  // namespace fairlead::edge::resp
