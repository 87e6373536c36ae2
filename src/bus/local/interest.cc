#include "bus/local/interest.h"

namespace fairlead::bus {

namespace {

bool has_wildcard(std::string_view pattern) {
  return pattern.find_first_of("*>") != std::string_view::npos;
}

// REQUIRES: a valid pattern, in which wildcards are whole tokens.
std::string_view prefix_of(std::string_view pattern) {
  return pattern.substr(0, pattern.find_first_of("*>"));
}

std::string_view index_key(std::string_view pattern) {
  return has_wildcard(pattern) ? prefix_of(pattern) : pattern;
}

}  // namespace

void Interest::add(std::shared_ptr<Group> group) {
  Index& index = has_wildcard(group->pattern()) ? by_prefix_ : exact_;
  index[std::string(index_key(group->pattern()))].push_back(std::move(group));
}

void Interest::remove(const std::shared_ptr<Group>& group) {
  Index& index = has_wildcard(group->pattern()) ? by_prefix_ : exact_;
  auto found = index.find(index_key(group->pattern()));
  if (found == index.end()) return;
  std::erase(found->second, group);
  if (found->second.empty()) index.erase(found);
}

std::shared_ptr<Group> Interest::find(std::string_view pattern, std::string_view queue,
                                      bool consumes) const {
  const bool durable = Group::durable(pattern, queue, consumes);
  const Index& index = has_wildcard(pattern) ? by_prefix_ : exact_;
  auto found = index.find(index_key(pattern));
  if (found == index.end()) return nullptr;
  for (const auto& group : found->second) {
    if (group->pattern() == pattern && group->queue() == queue && group->durable() == durable) {
      return group;
    }
  }
  return nullptr;
}

void Interest::match(std::string_view subject, Groups& groups) const {
  if (auto found = exact_.find(subject); found != exact_.end()) {
    groups.insert(groups.end(), found->second.begin(), found->second.end());
  }
  if (by_prefix_.empty()) return;
  for (size_t length = 0; length != std::string_view::npos;) {
    auto found = by_prefix_.find(subject.substr(0, length));
    if (found != by_prefix_.end()) {
      for (const auto& group : found->second) {
        if (matches(group->pattern(), subject)) groups.push_back(group);
      }
    }
    size_t dot = subject.find('.', length);
    length = dot == std::string_view::npos ? dot : dot + 1;
  }
}

}  // namespace fairlead::bus
