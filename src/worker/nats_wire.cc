#include "worker/nats_wire.h"

#include <charconv>
#include <vector>

#include "base/limits.h"
#include "base/text.h"

namespace fairlead::worker {

namespace {

// INFO of a large cluster names many servers.
constexpr size_t kLineBytesMax = 64 << 10;

std::optional<size_t> number_of(std::string_view digits) {
  size_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::string_view word : split(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

std::unexpected<Error> nonsense(std::string_view line) {
  return fail(ErrorCode::kInvalid,
              "this is not a NATS server, it says: " + std::string(line.substr(0, 80)));
}

}  // namespace

Result<std::optional<ServerSaid>> NatsReader::next() {
  if (at_ > 0 && (at_ == held_.size() || at_ > limits::kReadBytes)) {
    held_.erase(0, at_);
    at_ = 0;
  }
  const std::string_view rest = std::string_view(held_).substr(at_);
  const size_t end = rest.find("\r\n");
  if (end == rest.npos) {
    if (rest.size() > kLineBytesMax) return nonsense(rest);
    return std::nullopt;
  }
  const std::string_view line = rest.substr(0, end);
  if (line.starts_with("MSG ") || line.starts_with("HMSG ")) return read_message(line, end + 2);

  ServerSaid said;
  if (line.starts_with("INFO ")) {
    said.kind = ServerSaid::Kind::kInfo;
    said.text = line.substr(5);
  } else if (line == "PING") {
    said.kind = ServerSaid::Kind::kPing;
  } else if (line == "PONG") {
    said.kind = ServerSaid::Kind::kPong;
  } else if (line == "+OK") {
    said.kind = ServerSaid::Kind::kOk;
  } else if (line.starts_with("-ERR")) {
    said.kind = ServerSaid::Kind::kError;
    said.text = trim(line.substr(4));
  } else {
    return nonsense(line);
  }
  at_ += end + 2;
  return said;
}

// MSG subject sid [reply] bytes, HMSG subject sid [reply] header-bytes bytes.
Result<std::optional<ServerSaid>> NatsReader::read_message(std::string_view line, size_t body_at) {
  const bool with_headers = line.starts_with('H');
  std::vector<std::string_view> words = words_of(line);
  const size_t least = with_headers ? 5 : 4;
  if (words.size() != least && words.size() != least + 1) return nonsense(line);
  const auto total = number_of(words.back());
  const auto headers = with_headers ? number_of(words[words.size() - 2]) : std::optional<size_t>(0);
  if (!total || !headers || *headers > *total || *total > limits::kUnsentBytesMax) {
    return nonsense(line);
  }
  if (held_.size() - at_ < body_at + *total + 2) return std::nullopt;
  const std::string_view body = std::string_view(held_).substr(at_ + body_at, *total + 2);
  if (!body.ends_with("\r\n")) return nonsense(line);
  ServerSaid said;
  said.kind = ServerSaid::Kind::kMessage;
  said.subject = words[1];
  said.subscription = words[2];
  if (words.size() == least + 1) said.reply = words[3];
  said.headers = body.substr(0, *headers);
  said.payload = body.substr(*headers, *total - *headers);
  at_ += body_at + *total + 2;
  return said;
}

bool tells_no_responders(std::string_view headers) {
  return headers.starts_with("NATS/1.0 503");
}

}  // namespace fairlead::worker
