// Which groups want a subject. Groups without wildcards are found by the subject itself, those with
// wildcards by the tokens before the first one; so the cost grows with the tokens of a subject, not
// with the number of subscriptions.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bus/group.h"

namespace fairlead::bus {

class Interest {
 public:
  void add(std::shared_ptr<Group> group);
  void remove(const std::shared_ptr<Group>& group);

  // The group of this pattern and queue, or nothing.
  std::shared_ptr<Group> find(std::string_view pattern, std::string_view queue,
                              bool consumes = true) const;
  // Appends the groups that want the subject, always in the same order.
  void match(std::string_view subject, std::vector<std::shared_ptr<Group>>& groups) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Groups = std::vector<std::shared_ptr<Group>>;
  using Index = std::unordered_map<std::string, Groups, Hash, std::equal_to<>>;

  Index exact_;
  Index by_prefix_;  // "a." for "a.*.b", "" for "*.b" and ">"
};

}  // namespace fairlead::bus
