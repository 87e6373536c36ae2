#include "base/huge_pages.h"

#include <cstdint>
#include <new>

#include <sys/mman.h>

namespace fairlead {

namespace {

// For less than half a page too much would lie idle.
bool is_small(size_t bytes) {
  return bytes < kHugePageBytes / 2;
}

size_t whole_pages(size_t bytes) {
  return (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
}

}  // namespace

void* allocate_in_huge_pages(size_t bytes, size_t alignment) {
  if (is_small(bytes)) return ::operator new(bytes, std::align_val_t(alignment));
  // The kernel knows no alignment: one page more, and what lies around the aligned part goes back.
  const size_t wanted = whole_pages(bytes);
  const size_t taken = wanted + kHugePageBytes;
  void* mapped = ::mmap(nullptr, taken, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* begin = static_cast<std::byte*>(mapped);
  const size_t before =
      whole_pages(reinterpret_cast<uintptr_t>(begin)) - reinterpret_cast<uintptr_t>(begin);
  if (before > 0) ::munmap(begin, before);
  if (before < kHugePageBytes) ::munmap(begin + before + wanted, kHugePageBytes - before);
  // A kernel without them refuses, and the pages are small.
  ::madvise(begin + before, wanted, MADV_HUGEPAGE);
  return begin + before;
}

void deallocate_in_huge_pages(void* memory, size_t bytes, size_t alignment) noexcept {
  if (is_small(bytes)) return ::operator delete(memory, std::align_val_t(alignment));
  ::munmap(memory, whole_pages(bytes));
}

}  // namespace fairlead
