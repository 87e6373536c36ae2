#include "bus/group.h"

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"

namespace fairlead::bus {

namespace {

bool has_capacity(const std::shared_ptr<Member>& member) {
  return member->running.size() < member->options.in_flight_max;
}

bool hears(const std::shared_ptr<Member>& member, uint64_t origin) {
  return origin == 0 || member->options.deaf_to != origin;
}

}  // namespace

Group::Group(std::string pattern, std::string queue, Kept kept)
    : pattern_(std::move(pattern)), queue_(std::move(queue)), durable_(kept == Kept::kAll) {}

bool Group::wants(uint64_t origin) const {
  return origin == 0 ||
         std::ranges::any_of(members_, [&](const auto& member) { return hears(member, origin); });
}

void Group::join(std::shared_ptr<Member> member) {
  members_.push_back(std::move(member));
  waiting_.splice(waiting_.begin(), parked_);
}

void Group::leave(const std::shared_ptr<Member>& member) {
  auto place = std::ranges::find(members_, member);
  check(place != members_.end(), "a member leaves its own group, once");
  auto index = static_cast<size_t>(place - members_.begin());
  members_.erase(place);
  if (turn_ > index) --turn_;

  member->left = true;
  running_ -= member->running.size();
  for (Entry& entry : member->running) {
    if (durable_) {
      // Those in line stay there: this message still goes before them.
      if (entry.key) lines_.at(*entry.key).busy = false;
      entry.key.reset();
    } else {
      if (entry.key) free_key(*entry.key);
      discharge(entry);
    }
  }
  if (durable_) waiting_.splice(waiting_.begin(), member->running);
  member->running.clear();
}

bool Group::has_room(size_t payload_bytes) const {
  return held_ - running_ < limits::kSubscriptionQueueMax &&
         held_bytes_ + payload_bytes <= limits::kGroupBytesMax;
}

void Group::admit(Entry entry) {
  ++held_;
  held_bytes_ += entry.envelope->payload.size();
  waiting_.push_back(std::move(entry));
}

void Group::discharge(const Entry& entry) {
  check(held_ > 0, "a message leaves its group once");
  --held_;
  held_bytes_ -= entry.envelope->payload.size();
}

bool Group::can_start() const {
  return !waiting_.empty() && std::ranges::any_of(members_, [&](const auto& member) {
    return has_capacity(member) && hears(member, waiting_.front().envelope->origin);
  });
}

const std::shared_ptr<Member>* Group::next_member(uint64_t origin) {
  for (size_t i = 0; i < members_.size(); ++i) {
    size_t index = (turn_ + i) % members_.size();
    if (!has_capacity(members_[index]) || !hears(members_[index], origin)) continue;
    turn_ = index;
    return &members_[index];
  }
  return nullptr;
}

std::optional<Group::Start> Group::start_next() {
  while (!waiting_.empty()) {
    auto entry = waiting_.begin();
    const uint64_t origin = entry->envelope->origin;
    const std::shared_ptr<Member>* member = next_member(origin);
    if (!member && !durable_ && !wants(origin)) {
      // The one that it was taken for has left.
      discharge(*entry);
      waiting_.erase(entry);
      continue;
    }
    if (!member) return std::nullopt;
    if (const auto& key_of = (*member)->options.key) {
      uint64_t key = std::hash<std::string_view>{}(key_of(entry->envelope->payload));
      Line& line = lines_[key];
      if (line.busy) {
        line.waiting.splice(line.waiting.end(), waiting_, entry);
        continue;
      }
      line.busy = true;
      entry->key = key;
    }
    ++entry->deliveries;
    ++running_;
    (*member)->running.splice((*member)->running.end(), waiting_, entry);
    ++turn_;
    return Start{*member, entry};
  }
  return std::nullopt;
}

Entry Group::release(const Start& start) {
  check(!start.member->left, "what a member left behind is not its own any more");
  Entry entry = std::move(*start.entry);
  start.member->running.erase(start.entry);
  --running_;
  if (entry.key) free_key(*entry.key);
  entry.key.reset();
  return entry;
}

void Group::free_key(uint64_t key) {
  auto found = lines_.find(key);
  Line& line = found->second;
  line.busy = false;
  if (line.waiting.empty()) {
    lines_.erase(found);
  } else {
    waiting_.splice(waiting_.begin(), line.waiting, line.waiting.begin());
  }
}

std::vector<Entry> Group::park() {
  // The lines come in any order, so the order is made afterwards.
  for (auto& [key, line] : lines_) waiting_.splice(waiting_.end(), line.waiting);
  std::erase_if(lines_, [](const auto& line) { return !line.second.busy; });
  waiting_.sort([](const Entry& left, const Entry& right) {
    return left.envelope->sequence < right.envelope->sequence;
  });

  std::vector<Entry> unstored;
  for (Entry& entry : waiting_) {
    if (entry.stored) {
      parked_.push_back(std::move(entry));
    } else {
      unstored.push_back(std::move(entry));
    }
  }
  waiting_.clear();
  return unstored;
}

}  // namespace fairlead::bus
