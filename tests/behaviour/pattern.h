// What a line of a story may look like, and what a line that looks so says.
//
//   worker <worker> joins pool <pool> [capacity <n:number>] [labels <labels:pairs>]
//
// Words stand for themselves, <name> takes any word, <name:kind> a word of that kind. Parts in
// brackets may be left out; they stand at the end, in any order, each at most once.
//
//   number    3, -1                 list      gpu,cuda
//   decimal   95, 0.5               pairs     node.zone=eu,disk=ssd
//   duration  250ms, 5s, 2m, 1h     state     RUNNING
//   rest      all that follows, at least one word
//
// A text with blanks is one word when it stands in double quotes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "job/state.h"

namespace fairlead::behaviour {

// The words of a line; kInvalid when a quote is not closed.
Result<std::vector<std::string>> words_of(std::string_view line);

// What a line filled in. The getters trust the kinds that the pattern demanded; a part that was
// left out reads as zero or empty.
class Args {
 public:
  // A capture by its name, or a bracketed part without one by its words: "without epoch".
  bool has(std::string_view name) const { return values_.contains(name); }
  const std::string& text(std::string_view name) const;
  int64_t number(std::string_view name) const;
  double decimal(std::string_view name) const;
  Duration duration(std::string_view name) const;
  std::vector<std::string> list(std::string_view name) const;
  std::vector<std::string> rest(std::string_view name) const;
  std::map<std::string, std::string> pairs(std::string_view name) const;
  job::State state(std::string_view name) const;

  void set(std::string name, std::string value) { values_[std::move(name)] = std::move(value); }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

class Pattern {
 public:
  // REQUIRES: `text` is as described above.
  explicit Pattern(std::string text);

  struct Match {
    bool whole = false;
    size_t reached = 0;   // words understood before the first that was not
    std::string problem;  // what was wrong with that one, if it was nearly right
    Args args;
  };
  Match match(const std::vector<std::string>& words) const;

  const std::string& text() const { return text_; }

 private:
  struct Piece {
    std::string word;  // or, of a capture, its name
    std::string kind;  // empty: a word that stands for itself
  };
  using Pieces = std::vector<Piece>;

  static Pieces parse(std::string_view text);
  static size_t match_pieces(const Pieces& pieces, const std::vector<std::string>& words,
                             size_t from, Match& match);

  std::string text_;
  Pieces fixed_;
  std::vector<Pieces> optional_;
};

}  // namespace fairlead::behaviour
