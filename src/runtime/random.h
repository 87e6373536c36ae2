// Where randomness comes from: the system's source in production, a seed in tests and simulations.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/time.h"

namespace fairlead {

class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t next() = 0;

  // Uniform in [0, bound). REQUIRES: bound > 0.
  uint64_t below(uint64_t bound);
  // True once in `one_in` times on average; never when it is 0.
  bool chance(uint64_t one_in) { return one_in != 0 && below(one_in) == 0; }
  Duration between(Duration low, Duration high);
  // 32 hexadecimal digits.
  std::string token();
};

// The kernel's cryptographic source, read in blocks.
class SystemRandom final : public Random {
 public:
  uint64_t next() override;

 private:
  std::array<uint64_t, 32> block_{};
  size_t used_ = block_.size();
};

// The same numbers for the same seed, on every machine.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}
  uint64_t next() override;

 private:
  uint64_t state_;
};

}  // namespace fairlead
