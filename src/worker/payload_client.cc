#include "worker/payload_client.h"

#include <charconv>

#include <fmt/core.h>

#include "worker/link.h"

namespace fairlead::worker {

namespace {

std::string command_bytes(const std::vector<std::string>& words) {
  std::string bytes = fmt::format("*{}\r\n", words.size());
  for (const std::string& word : words) {
    bytes += fmt::format("${}\r\n", word.size());
    bytes.append(word).append("\r\n");
  }
  return bytes;
}

using Reply = Result<std::optional<std::string>>;

// The answer at the beginning of `bytes`, if it is whole: a simple text, an error or a bulk.
std::optional<Reply> parse_reply(std::string_view bytes) {
  const size_t end = bytes.find("\r\n");
  if (end == bytes.npos) {
    if (bytes.size() < limits::kControlLineBytesMax) return std::nullopt;
    return fail(ErrorCode::kInvalid, "this is not a Redis server");
  }
  const std::string_view line = bytes.substr(1, end > 0 ? end - 1 : 0);
  switch (bytes[0]) {
    case '+':
    case ':':
      return std::optional<std::string>(line);
    case '_':
      return std::optional<std::string>();
    case '-':
      return fail(ErrorCode::kInvalid, "the payload listener says " + std::string(line));
    case '$':
      break;
    default:
      return fail(ErrorCode::kInvalid, "this is not a Redis server");
  }
  if (line == "-1") return std::optional<std::string>();
  size_t size = 0;
  auto [after, error] = std::from_chars(line.data(), line.data() + line.size(), size);
  if (error != std::errc() || after != line.data() + line.size() || size > limits::kBlobBytesMax) {
    return fail(ErrorCode::kInvalid, "the payload is too large, or this is not a Redis server");
  }
  if (bytes.size() < end + 2 + size + 2) return std::nullopt;
  return std::optional<std::string>(bytes.substr(end + 2, size));
}

}  // namespace

asio::awaitable<Result<void>> PayloadClient::check() {
  std::vector<std::string> words{"PING"};
  auto answered = co_await call(std::move(words));
  if (!answered) co_return std::unexpected(answered.error());
  co_return Result<void>{};
}

asio::awaitable<Reply> PayloadClient::get(std::string key) {
  std::vector<std::string> words{"GET", std::move(key)};
  co_return co_await call(std::move(words));
}

asio::awaitable<Result<void>> PayloadClient::set(std::string key, std::string bytes,
                                                 Duration time_to_live) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time_to_live).count();
  std::vector<std::string> words{"SET", std::move(key), std::move(bytes), "EX",
                                 std::to_string(seconds)};
  auto answered = co_await call(std::move(words));
  if (!answered) co_return std::unexpected(answered.error());
  co_return Result<void>{};
}

asio::awaitable<Reply> PayloadClient::call(std::vector<std::string> words) {
  Link link(context_);
  link.give_up_after(limits::kPayloadWait);
  if (auto opened = co_await link.connect(address_); !opened) {
    co_return std::unexpected(opened.error());
  }
  if (address_.tls) {
    if (auto secured = co_await link.secure(address_); !secured) {
      co_return std::unexpected(secured.error());
    }
  }
  if (auto known = co_await sign_in(link); !known) co_return std::unexpected(known.error());
  co_return co_await ask(link, words);
}

asio::awaitable<Result<void>> PayloadClient::sign_in(Link& link) {
  std::vector<std::string> words{"AUTH"};
  if (!address_.user.empty()) {
    words.insert(words.end(), {address_.user, address_.password});
  } else if (!address_.password.empty() || !address_.token.empty()) {
    words.push_back(address_.password.empty() ? address_.token : address_.password);
  } else {
    co_return Result<void>{};
  }
  auto answered = co_await ask(link, words);
  const bool refused = !answered && answered.error().code == ErrorCode::kInvalid;
  if (refused && address_.borrowed) co_return Result<void>{};  // what is asked next will tell
  if (!answered) co_return std::unexpected(answered.error());
  co_return Result<void>{};
}

asio::awaitable<Reply> PayloadClient::ask(Link& link, const std::vector<std::string>& words) {
  if (auto sent = co_await link.write(command_bytes(words)); !sent) {
    co_return std::unexpected(sent.error());
  }
  std::string held;
  for (;;) {
    auto bytes = co_await link.read();
    if (!bytes) co_return std::unexpected(bytes.error());
    held += *bytes;
    if (auto reply = parse_reply(held)) co_return *std::move(reply);
  }
}

}  // namespace fairlead::worker
