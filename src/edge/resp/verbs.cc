#include "edge/resp/verbs.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/text.h"

namespace fairlead::edge::resp {

namespace {

using namespace std::chrono_literals;
using Kind = Request::Kind;
using Parsed = std::expected<Request, std::string>;

constexpr size_t kAny = 0;

struct Verb {
  std::string_view name;
  Kind kind;
  size_t words_min;  // the verb included
  size_t words_max;  // kAny: as many as a command may have
};

constexpr Verb kVerbs[] = {
    {"get", Kind::kGet, 2, 2},         {"mget", Kind::kGetMany, 2, kAny},
    {"set", Kind::kSet, 3, kAny},      {"setex", Kind::kSet, 4, 4},
    {"psetex", Kind::kSet, 4, 4},      {"del", Kind::kErase, 2, kAny},
    {"exists", Kind::kCount, 2, kAny}, {"expire", Kind::kExpire, 3, kAny},
    {"ttl", Kind::kSeconds, 2, 2},     {"pttl", Kind::kMillis, 2, 2},
    {"strlen", Kind::kLength, 2, 2},
};

// Longer than anybody means, and far from the end of time.
constexpr Duration kTtlMax = 24h * 365 * 100;

const Verb* find(std::string_view name) {
  auto found = std::ranges::find(kVerbs, name, &Verb::name);
  return found == std::end(kVerbs) ? nullptr : found;
}

std::string refuse_key(std::string_view key) {
  if (key.size() > limits::kPayloadKeyBytesMax) return "ERR key is too long";
  for (std::string_view prefix : {"ctx:", "res:", "art:", "mem:"}) {
    if (key.size() > prefix.size() && key.starts_with(prefix)) return {};
  }
  return fmt::format("ERR key '{}' is not served here: keys begin with ctx:, res:, art: or mem:",
                     key.substr(0, 64));
}

std::optional<int64_t> number_of(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A time to live of more than nothing.
std::expected<Duration, std::string> ttl_of(std::string_view verb, std::string_view text,
                                            Duration unit) {
  auto count = number_of(text);
  if (!count) return std::unexpected("ERR value is not an integer or out of range");
  if (*count <= 0 || *count > kTtlMax / unit) {
    return std::unexpected(fmt::format("ERR invalid expire time in '{}' command", verb));
  }
  return unit * *count;
}

Parsed parse_set(Arguments words) {
  Request request{.kind = Kind::kSet};
  for (size_t at = 3; at < words.size(); ++at) {
    const std::string option = lower(words[at]);
    if (option == "nx" || option == "xx") {
      if (request.condition != store::BlobCondition::kAlways) {
        return std::unexpected("ERR syntax error");
      }
      request.condition =
          option == "nx" ? store::BlobCondition::kIfAbsent : store::BlobCondition::kIfPresent;
    } else if (option == "ex" || option == "px") {
      if (request.ttl || ++at == words.size()) return std::unexpected("ERR syntax error");
      auto ttl = ttl_of("set", words[at], option == "ex" ? Duration(1s) : Duration(1ms));
      if (!ttl) return std::unexpected(ttl.error());
      request.ttl = *ttl;
    } else if (option == "keepttl" || option == "get" || option == "exat" || option == "pxat") {
      return std::unexpected(fmt::format("ERR option {} of SET is not served here", words[at]));
    } else {
      return std::unexpected("ERR syntax error");
    }
  }
  request.keys.push_back(std::move(words[1]));
  request.value = std::move(words[2]);
  return request;
}

Parsed parse_set_with_ttl(std::string_view verb, Arguments words) {
  auto ttl = ttl_of(verb, words[2], verb == "setex" ? Duration(1s) : Duration(1ms));
  if (!ttl) return std::unexpected(ttl.error());
  Request request{.kind = Kind::kSet};
  request.keys.push_back(std::move(words[1]));
  request.value = std::move(words[3]);
  request.ttl = *ttl;
  return request;
}

// Without a ttl in the request the key is to go.
Parsed parse_expire(Arguments words) {
  if (words.size() > 3) return std::unexpected("ERR options of EXPIRE are not served here");
  auto seconds = number_of(words[2]);
  if (!seconds) return std::unexpected("ERR value is not an integer or out of range");
  if (*seconds > kTtlMax / 1s)
    return std::unexpected("ERR invalid expire time in 'expire' command");
  Request request{.kind = Kind::kExpire};
  request.keys.push_back(std::move(words[1]));
  if (*seconds > 0) request.ttl = Duration(1s) * *seconds;
  return request;
}

Parsed parse_words(const Verb& verb, Arguments words) {
  if (verb.name == "set") return parse_set(std::move(words));
  if (verb.kind == Kind::kSet) return parse_set_with_ttl(verb.name, std::move(words));
  if (verb.kind == Kind::kExpire) return parse_expire(std::move(words));
  Request request{.kind = verb.kind};
  request.keys.assign(std::make_move_iterator(words.begin() + 1),
                      std::make_move_iterator(words.end()));
  return request;
}

}  // namespace

bool needs_store(std::string_view lower_verb) {
  return find(lower_verb) != nullptr;
}

std::string wrong_count(std::string_view lower_verb) {
  return fmt::format("ERR wrong number of arguments for '{}' command", lower_verb);
}

Parsed parse_request(std::string_view lower_verb, Arguments words) {
  const Verb& verb = *find(lower_verb);
  if (words.size() < verb.words_min || (verb.words_max != kAny && words.size() > verb.words_max)) {
    return std::unexpected(wrong_count(lower_verb));
  }
  Parsed request = parse_words(verb, std::move(words));
  if (!request) return request;
  for (const std::string& key : request->keys) {
    if (std::string refusal = refuse_key(key); !refusal.empty()) return std::unexpected(refusal);
  }
  return request;
}

}  // namespace fairlead::edge::resp
