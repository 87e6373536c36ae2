#include "routing/wait_class.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <span>

#include "base/text.h"

namespace fairlead::routing {

namespace {

constexpr std::string_view kPoolsField = "pools=";
constexpr std::string_view kTopicField = "topic=";
constexpr size_t kTextBytesUsual = 100;

constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (int c = 'a'; c <= 'z'; ++c) plain[c] = true;
  for (int c = 'A'; c <= 'Z'; ++c) plain[c] = true;
  for (int c = '0'; c <= '9'; ++c) plain[c] = true;
  for (unsigned char c : {'-', '.', '_', '/', ':'}) plain[c] = true;
  return plain;
}();

void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  auto is_plain = [](unsigned char c) { return kPlain[c]; };
  if (std::ranges::all_of(text, is_plain)) {
    out += text;
    return;
  }
  for (unsigned char c : text) {
    if (is_plain(c)) {
      out += static_cast<char>(c);
    } else {
      out.append({'%', kDigits[c >> 4], kDigits[c & 15]});
    }
  }
}

// Takes anything; what `append_escaped` would not have written shows when it is written again.
std::string unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (text.front() != '%' || text.size() < 3) {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    unsigned byte = 0;
    std::from_chars(text.data() + 1, text.data() + 3, byte, 16);
    out += static_cast<char>(byte);
    text.remove_prefix(3);
  }
  return out;
}

}  // namespace

std::string wait_class_text(const std::vector<PoolName>& pools, const Labels& placement,
                            const Topic& topic) {
  std::string text;
  text.reserve(kTextBytesUsual);
  text += kPoolsField;
  for (const PoolName& pool : pools) {
    if (&pool != &pools.front()) text += ',';
    append_escaped(text, pool.str());
  }
  if (!topic.empty()) {
    text += ';';
    text += kTopicField;
    append_escaped(text, topic.str());
  }
  for (const auto& [name, value] : placement) {
    text += ';';
    append_escaped(text, name);
    text += '=';
    append_escaped(text, value);
  }
  return text;
}

Result<WaitClass> parse_wait_class(std::string_view text) {
  auto malformed = [&] {
    return fail(ErrorCode::kInvalid,
                "no wait class of workers, such as \"pools=a,b;node.zone=eu\": \"" +
                    std::string(text) + "\"");
  };
  if (!text.starts_with(kPoolsField)) return malformed();

  WaitClass wait_class;
  std::vector<std::string_view> fields = split(text.substr(kPoolsField.size()), ';');
  for (std::string_view pool : split(fields.front(), ',')) {
    wait_class.pools.emplace_back(unescaped(pool));
  }
  auto labels = std::span(fields).subspan(1);
  if (!labels.empty() && labels.front().starts_with(kTopicField)) {
    wait_class.topic = Topic(unescaped(labels.front().substr(kTopicField.size())));
    labels = labels.subspan(1);
  }
  for (std::string_view label : labels) {
    size_t equals = label.find('=');
    if (equals == std::string_view::npos) return malformed();
    wait_class.placement.emplace(unescaped(label.substr(0, equals)),
                                 unescaped(label.substr(equals + 1)));
  }
  bool ascending =
      std::ranges::adjacent_find(wait_class.pools, std::greater_equal{}) == wait_class.pools.end();
  if (!ascending ||
      wait_class_text(wait_class.pools, wait_class.placement, wait_class.topic) != text) {
    return malformed();
  }
  return wait_class;
}

bool fits(const WaitClass& wait_class, const WorkerReport& worker) {
  return std::ranges::binary_search(wait_class.pools, worker.pool) &&
         is_ready_for(worker, wait_class.topic) &&
         first_mismatch(worker.labels, wait_class.placement) == nullptr;
}

}  // namespace fairlead::routing
