#include "edge/nats/parser.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/limits.h"
#include "base/text.h"

namespace fairlead::edge::nats {

namespace {

constexpr std::string_view kUnknownOperation = "Unknown Protocol Operation";

bool is_blank(char byte) {
  return byte == ' ' || byte == '\t';
}

// The words of a line; `count` is 0 when there are more than fit.
struct Words {
  std::array<std::string_view, 4> word;
  size_t count = 0;
};

Words words_of(std::string_view text) {
  Words words;
  for (size_t at = 0; at < text.size();) {
    if (is_blank(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && !is_blank(text[end])) ++end;
    if (words.count == words.word.size()) return {};
    words.word[words.count++] = text.substr(at, end - at);
    at = end;
  }
  return words;
}

std::optional<uint64_t> number_of(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Parser::Outcome Parser::broken(std::string_view why) {
  is_broken_ = true;
  error_ = why;
  line_ = {};
  body_ = {};
  return Outcome::kBroken;
}

Parser::Outcome Parser::parse(std::string_view& bytes) {
  while (!is_broken_) {
    if (in_body_) return parse_body(bytes);
    size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() > limits::kControlLineBytesMax) {
      return broken("Maximum Control Line Exceeded");
    }
    if (end == std::string_view::npos) {
      line_.append(part);
      bytes = {};
      return Outcome::kMore;
    }
    bytes.remove_prefix(end + 1);
    Outcome outcome = Outcome::kMore;
    if (line_.empty()) {
      outcome = parse_line(part);
    } else {
      const std::string line = std::exchange(line_, {}).append(part);
      outcome = parse_line(line);
    }
    // kMore: an empty line, or the head of a message.
    if (outcome != Outcome::kMore) return outcome;
    if (bytes.empty() && !in_body_) return outcome;
  }
  return Outcome::kBroken;
}

Parser::Outcome Parser::parse_line(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return Outcome::kMore;
  size_t blank = line.find_first_of(" \t");
  const std::string verb = lower(line.substr(0, blank));
  const std::string_view rest =
      blank == std::string_view::npos ? std::string_view{} : line.substr(blank + 1);

  operation_ = {};
  if (verb == "connect") {
    operation_.kind = Operation::Kind::kConnect;
    operation_.text = rest;
    return Outcome::kOperation;
  }
  if (!admitted_) return broken("Authorization Violation");
  if (verb == "pub") return parse_publish(rest, false);
  if (verb == "hpub") return parse_publish(rest, true);
  if (verb == "sub") return parse_subscribe(rest);
  if (verb == "unsub") return parse_unsubscribe(rest);
  if (verb == "ping") {
    operation_.kind = Operation::Kind::kPing;
    return Outcome::kOperation;
  }
  if (verb == "pong") {
    operation_.kind = Operation::Kind::kPong;
    return Outcome::kOperation;
  }
  // What a server says; some clients repeat it.
  if (verb == "info" || verb == "+ok" || verb == "-err") return Outcome::kOperation;
  return broken(kUnknownOperation);
}

Parser::Outcome Parser::parse_publish(std::string_view arguments, bool with_headers) {
  const Words words = words_of(arguments);
  const size_t numbers = with_headers ? 2 : 1;
  if (words.count != numbers + 1 && words.count != numbers + 2) return broken(kUnknownOperation);
  operation_.kind = Operation::Kind::kPublish;
  operation_.subject = words.word[0];
  if (words.count == numbers + 2) operation_.reply = words.word[1];

  auto total = number_of(words.word[words.count - 1]);
  auto headers = with_headers ? number_of(words.word[words.count - 2]) : 0;
  if (!total || !headers || *headers > *total) return broken(kUnknownOperation);
  if (*total > limits::kPacketBytesMax) return broken("Maximum Payload Violation");
  if (*headers > limits::kNatsHeaderBytesMax) return broken("Maximum Header Size Exceeded");
  header_bytes_ = *headers;
  body_bytes_ = *total + 2;
  in_body_ = true;
  return Outcome::kMore;
}

Parser::Outcome Parser::parse_subscribe(std::string_view arguments) {
  const Words words = words_of(arguments);
  if (words.count != 2 && words.count != 3) return broken(kUnknownOperation);
  operation_.kind = Operation::Kind::kSubscribe;
  operation_.subject = words.word[0];
  if (words.count == 3) operation_.queue = words.word[1];
  operation_.name = words.word[words.count - 1];
  return Outcome::kOperation;
}

Parser::Outcome Parser::parse_unsubscribe(std::string_view arguments) {
  const Words words = words_of(arguments);
  if (words.count != 1 && words.count != 2) return broken(kUnknownOperation);
  operation_.kind = Operation::Kind::kUnsubscribe;
  operation_.name = words.word[0];
  if (words.count == 2) {
    operation_.max = number_of(words.word[1]);
    if (!operation_.max) return broken(kUnknownOperation);
    // Zero means at once, like none at all.
    if (*operation_.max == 0) operation_.max.reset();
  }
  return Outcome::kOperation;
}

Parser::Outcome Parser::parse_body(std::string_view& bytes) {
  std::string_view whole = bytes.substr(0, body_bytes_ - body_.size());
  bytes.remove_prefix(whole.size());
  if (body_.size() + whole.size() < body_bytes_) {
    body_.append(whole);
    return Outcome::kMore;
  }
  std::string joined;
  if (!body_.empty()) {
    joined = std::exchange(body_, {}).append(whole);
    whole = joined;
  }
  in_body_ = false;
  if (!whole.ends_with("\r\n")) return broken(kUnknownOperation);
  whole.remove_suffix(2);
  operation_.headers = whole.substr(0, header_bytes_);
  operation_.payload = whole.substr(header_bytes_);
  return Outcome::kOperation;
}

}  // namespace fairlead::edge::nats
