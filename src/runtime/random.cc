#include "runtime/random.h"

#include <sys/random.h>

#include "base/check.h"

namespace fairlead {

uint64_t Random::below(uint64_t bound) {
  check(bound > 0, "a random number needs room");
  return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
}

Duration Random::between(Duration low, Duration high) {
  check(low <= high, "a range begins before it ends");
  return low + Duration(below(static_cast<uint64_t>((high - low).count()) + 1));
}

std::string Random::token() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (size_t half = 0; half < 2; ++half) {
    uint64_t bits = next();
    for (size_t i = 0; i < 16; ++i, bits >>= 4) text[half * 16 + i] = kDigits[bits & 15];
  }
  return text;
}

uint64_t SystemRandom::next() {
  if (used_ == block_.size()) {
    ssize_t got = getrandom(block_.data(), sizeof(block_), 0);
    check(got == static_cast<ssize_t>(sizeof(block_)), "the kernel's random source answers");
    used_ = 0;
  }
  return block_[used_++];
}

// SplitMix64: a counter through a mixing function.
uint64_t SeededRandom::next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace fairlead
