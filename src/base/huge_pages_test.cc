#include "base/huge_pages.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace fairlead {
namespace {

struct alignas(128) Line {
  uint64_t value = 0;
};

TEST(HugePages, KeepsWhatIsInSmallAndLargeContainers) {
  std::vector<Line, HugePages<Line>> lines;
  for (uint64_t i = 0; i < 100'000; ++i) {
    lines.push_back({i});
    ASSERT_EQ(reinterpret_cast<uintptr_t>(lines.data()) % alignof(Line), 0u);
  }
  for (uint64_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i].value, i);
}

TEST(HugePages, LargeOnesBeginWithAPage) {
  for (size_t bytes : {kHugePageBytes, kHugePageBytes + 1, 5 * kHugePageBytes - 1}) {
    void* memory = allocate_in_huge_pages(bytes, 8);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % kHugePageBytes, 0u);
    static_cast<char*>(memory)[bytes - 1] = 'x';
    deallocate_in_huge_pages(memory, bytes, 8);
  }
}

TEST(HugePages, ASmallOneIsAlignedAsAsked) {
  void* memory = allocate_in_huge_pages(100, 64);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
  deallocate_in_huge_pages(memory, 100, 64);
}

}  // namespace
}  // namespace fairlead
