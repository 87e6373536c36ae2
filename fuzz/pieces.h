// What fuzzers share: the pieces of an input, a wire that forgets, a clock of the simulated loop.
#pragma once

#include <cstdint>
#include <string_view>

#include "edge/net/protocol.h"
#include "runtime/clock.h"
#include "runtime/simulated_loop.h"

namespace fairlead::fuzz {

struct Piece {
  size_t client = 0;  // 0 or 1
  std::string_view bytes;
};

// Takes the next piece from the front; false when there is none.
inline bool next_piece(std::string_view& input, Piece& piece) {
  if (input.size() < 2) return false;
  piece.client = static_cast<uint8_t>(input[0]) & 1;
  piece.bytes = input.substr(2, static_cast<uint8_t>(input[1]));
  input.remove_prefix(2 + piece.bytes.size());
  return true;
}

class ForgetfulWire final : public edge::Wire {
 public:
  void send(std::string_view) override {}
  size_t unsent() const override { return 0; }
  void close() override { closed = true; }
  void start_tls() override {}
  void pause() override {}
  void resume() override {}

  bool closed = false;
};

class LoopClock final : public Clock {
 public:
  explicit LoopClock(const SimulatedLoop& loop) : loop_(loop) {}
  WallTime wall() const override { return WallTime(loop_.now().time_since_epoch()); }
  MonotonicTime monotonic() const override { return loop_.now(); }

 private:
  const SimulatedLoop& loop_;
};

}  // namespace fairlead::fuzz
