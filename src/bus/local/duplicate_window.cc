#include "bus/local/duplicate_window.h"

#include "base/limits.h"

namespace fairlead::bus {

void DuplicateWindow::remember(std::string_view id, Sequence sequence, MonotonicTime now) {
  // When full, the newest takes over the memory of the oldest: this runs for every message.
  Seen seen;
  Ids::node_type node;
  if (in_order_.size() == limits::kDuplicateIdsMax) {
    node = ids_.extract(in_order_.front().id);
    seen = std::move(in_order_.front());
    in_order_.pop_front();
  }
  seen.id = id;
  seen.at = now;
  in_order_.push_back(std::move(seen));
  bool fresh = false;
  if (node.empty()) {
    fresh = ids_.emplace(in_order_.back().id, sequence).second;
  } else {
    node.key() = in_order_.back().id;
    node.mapped() = sequence;
    fresh = ids_.insert(std::move(node)).inserted;
  }
  if (!fresh) in_order_.pop_back();
}

std::optional<Sequence> DuplicateWindow::seen(std::string_view id, MonotonicTime now) {
  while (!in_order_.empty() && in_order_.front().at + limits::kDuplicateWindow <= now) {
    ids_.erase(in_order_.front().id);
    in_order_.pop_front();
  }
  auto found = ids_.find(id);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

}  // namespace fairlead::bus
