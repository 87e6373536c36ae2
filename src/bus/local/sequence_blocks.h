// Sequences reserved from the store, so that a message costs no write. What is left of them at the
// end of a life is never used.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/ids.h"

namespace fairlead::bus {

class SequenceBlocks {
 public:
  void add(Sequence first, uint64_t count) {
    Block block{first.value(), first.value() + count};
    (current_.left() == 0 ? current_ : spare_) = block;
  }

  // No value: all are used, and the store has not given more yet.
  std::optional<Sequence> take() {
    if (current_.left() == 0) current_ = std::exchange(spare_, {});
    if (current_.left() == 0) return std::nullopt;
    return Sequence(current_.next++);
  }

  // Time to reserve another block.
  bool low(uint64_t below) const { return spare_.left() == 0 && current_.left() < below; }

 private:
  struct Block {
    uint64_t next = 0;
    uint64_t end = 0;
    uint64_t left() const { return end - next; }
  };

  Block current_;
  Block spare_;
};

}  // namespace fairlead::bus
