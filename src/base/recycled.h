// Recycled: what is made and ended all day, by one thread, in few sizes: frames of tasks, packets,
// what is waited for. The memory that was given back last is given out next, while the processor
// still has it in its cache; a general allocator takes turns, and each turn is a miss.
//
//   struct Packet : Recycled { … };   // its new and delete are these
#pragma once

#include <cstddef>

namespace fairlead {

struct Recycled {
  static void* operator new(size_t bytes);
  static void operator delete(void* memory, size_t bytes) noexcept;

 protected:
  Recycled() = default;
  ~Recycled() = default;
};

}  // namespace fairlead
