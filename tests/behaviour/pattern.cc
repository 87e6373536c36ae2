#include "tests/behaviour/pattern.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"

namespace fairlead::behaviour {

namespace {

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Duration> parse_duration(std::string_view text) {
  size_t unit_at = text.find_first_not_of("-.0123456789");
  if (unit_at == std::string_view::npos) return std::nullopt;
  auto count = parse_number<int64_t>(text.substr(0, unit_at));
  if (!count) return std::nullopt;
  std::string_view unit = text.substr(unit_at);
  if (unit == "ms") return std::chrono::milliseconds(*count);
  if (unit == "s") return std::chrono::seconds(*count);
  if (unit == "m") return std::chrono::minutes(*count);
  if (unit == "h") return std::chrono::hours(*count);
  return std::nullopt;
}

bool all_pairs(std::string_view text) {
  for (std::string_view pair : split(text, ',')) {
    if (pair.find('=') == std::string_view::npos || pair.starts_with('=')) return false;
  }
  return true;
}

// Why the word is not of the kind; "" when it is.
std::string misfit(const std::string& kind, const std::string& word) {
  if (kind == "word" || kind == "rest" || kind == "list") return "";
  if (kind == "number") return parse_number<int64_t>(word) ? "" : "a whole number, such as 3";
  if (kind == "decimal") return parse_number<double>(word) ? "" : "a number, such as 95 or 0.5";
  if (kind == "duration") return parse_duration(word) ? "" : "a duration, such as 250ms, 5s or 2m";
  if (kind == "pairs") return all_pairs(word) ? "" : "name=value pairs, such as node.zone=eu,a=b";
  if (kind == "state") return job::parse_state(word) ? "" : "a state, such as RUNNING";
  check(false, "a pattern names only kinds that there are");
  return "";
}

}  // namespace

Result<std::vector<std::string>> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (size_t at = 0; at < line.size();) {
    if (line[at] == ' ' || line[at] == '\t') {
      ++at;
      continue;
    }
    if (line[at] == '"') {
      size_t end = line.find('"', at + 1);
      if (end == std::string_view::npos) {
        return fail(ErrorCode::kInvalid, "a quote is opened and not closed");
      }
      words.emplace_back(line.substr(at + 1, end - at - 1));
      at = end + 1;
    } else {
      size_t end = std::min(line.find_first_of(" \t", at), line.size());
      words.emplace_back(line.substr(at, end - at));
      at = end;
    }
  }
  return words;
}

// --- What a line filled in -----------------------------------------------------------------------

const std::string& Args::text(std::string_view name) const {
  static const std::string kNone;
  auto found = values_.find(name);
  return found == values_.end() ? kNone : found->second;
}

int64_t Args::number(std::string_view name) const {
  return parse_number<int64_t>(text(name)).value_or(0);
}

double Args::decimal(std::string_view name) const {
  return parse_number<double>(text(name)).value_or(0);
}

Duration Args::duration(std::string_view name) const {
  return parse_duration(text(name)).value_or(Duration(0));
}

std::vector<std::string> Args::list(std::string_view name) const {
  std::vector<std::string> items;
  if (!has(name)) return items;
  for (std::string_view item : split(text(name), ',')) items.emplace_back(item);
  return items;
}

std::vector<std::string> Args::rest(std::string_view name) const {
  std::vector<std::string> words;
  for (std::string_view word : split(text(name), '\n')) words.emplace_back(word);
  return words;
}

std::map<std::string, std::string> Args::pairs(std::string_view name) const {
  std::map<std::string, std::string> pairs;
  for (const std::string& item : list(name)) {
    size_t equals = item.find('=');
    pairs[item.substr(0, equals)] = item.substr(equals + 1);
  }
  return pairs;
}

job::State Args::state(std::string_view name) const {
  return job::parse_state(text(name)).value_or(job::State::kPending);
}

// --- Matching ------------------------------------------------------------------------------------

Pattern::Pattern(std::string text) : text_(std::move(text)) {
  std::string_view rest = text_;
  size_t bracket = rest.find(" [");
  fixed_ = parse(rest.substr(0, bracket));
  while (bracket != std::string_view::npos) {
    size_t end = rest.find(']', bracket);
    check(end != std::string_view::npos, "a pattern closes its brackets");
    optional_.push_back(parse(rest.substr(bracket + 2, end - bracket - 2)));
    bracket = rest.find(" [", end);
  }
}

Pattern::Pieces Pattern::parse(std::string_view text) {
  Pieces pieces;
  for (std::string_view word : split(text, ' ')) {
    if (!word.starts_with('<') || word == "<") {
      pieces.push_back({std::string(word), ""});
      continue;
    }
    check(word.ends_with('>'), "a pattern closes its captures");
    word = word.substr(1, word.size() - 2);
    size_t colon = word.find(':');
    bool plain = colon == std::string_view::npos;
    pieces.push_back(
        {std::string(word.substr(0, colon)), plain ? "word" : std::string(word.substr(colon + 1))});
  }
  return pieces;
}

// The number of words taken, or 0 when the pieces do not fit there.
size_t Pattern::match_pieces(const Pieces& pieces, const std::vector<std::string>& words,
                             size_t from, Match& match) {
  size_t at = from;
  for (const Piece& piece : pieces) {
    bool fits = at < words.size();
    if (fits && piece.kind.empty()) fits = words[at] == piece.word;
    std::string wanted = fits && !piece.kind.empty() ? misfit(piece.kind, words[at]) : "";
    if (!fits || !wanted.empty()) {
      match.reached = std::max(match.reached, at);
      if (!wanted.empty() && at > from) {
        match.problem = fmt::format("\"{}\" is not {}", words[at], wanted);
      }
      return 0;
    }
    if (piece.kind == "rest") {
      auto first = words.begin() + static_cast<ptrdiff_t>(at);
      match.args.set(piece.word, join({first, words.end()}, "\n"));
      return words.size() - from;
    }
    if (!piece.kind.empty()) match.args.set(piece.word, words[at]);
    ++at;
  }
  match.reached = std::max(match.reached, at);
  return at - from;
}

Pattern::Match Pattern::match(const std::vector<std::string>& words) const {
  Match match;
  size_t at = match_pieces(fixed_, words, 0, match);
  if (at == 0) return match;

  std::vector<const Pieces*> left;
  for (const Pieces& pieces : optional_) left.push_back(&pieces);
  while (at < words.size()) {
    size_t taken = 0;
    for (auto it = left.begin(); it != left.end(); ++it) {
      Match attempt = match;
      taken = match_pieces(**it, words, at, attempt);
      if (taken == 0 && attempt.problem.empty()) continue;
      match = std::move(attempt);
      if (taken == 0) return match;
      std::string flag;
      for (const Piece& piece : **it) flag += (flag.empty() ? "" : " ") + piece.word;
      match.args.set(std::move(flag), "");
      left.erase(it);
      break;
    }
    if (taken == 0) {
      match.problem = fmt::format("\"{}\" does not belong here", words[at]);
      return match;
    }
    at += taken;
  }
  match.whole = true;
  return match;
}

}  // namespace fairlead::behaviour
