// Numbers for worker ids that compare as the ids do.
//
// A new id gets a number between those of its neighbours. When there is none left, `renumber`
// spreads all of them anew, which is rare: ids would have to come in an order made for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/ids.h"

namespace fairlead::routing {

class IdOrder {
 public:
  // The number of `id`, known or new; nothing when there is no room: renumber, then try again.
  std::optional<uint64_t> insert(const WorkerId& id);
  void erase(const WorkerId& id);
  // Every number may change, none in relation to another.
  void renumber();
  // By id.
  const std::map<WorkerId, uint64_t>& numbers() const { return numbers_; }

 private:
  std::map<WorkerId, uint64_t> numbers_;
};

}  // namespace fairlead::routing
