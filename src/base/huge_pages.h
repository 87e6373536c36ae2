// Memory for tables that grow large and are read here and there: in huge pages, where the kernel
// gives them, a read costs one miss of the processor's address cache less. Small ones are as any.
#pragma once

#include <cstddef>

namespace fairlead {

inline constexpr size_t kHugePageBytes = size_t{2} << 20;

// Throws std::bad_alloc when there is none. `bytes` and `alignment` must be told again to give it
// back. REQUIRES: alignment is a power of two, at most kHugePageBytes.
void* allocate_in_huge_pages(size_t bytes, size_t alignment);
void deallocate_in_huge_pages(void* memory, size_t bytes, size_t alignment) noexcept;

// For containers.
template <class T>
struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <class Other>
  HugePages(const HugePages<Other>&) {}

  T* allocate(size_t count) {
    return static_cast<T*>(allocate_in_huge_pages(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* memory, size_t count) noexcept {
    deallocate_in_huge_pages(memory, count * sizeof(T), alignof(T));
  }

  bool operator==(const HugePages&) const = default;
};

}  // namespace fairlead
