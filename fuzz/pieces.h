// What fuzzers share: the pieces of an input, a wire that forgets, a clock of the simulated loop.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/limits.h"
#include "edge/net/protocol.h"
#include "runtime/clock.h"
#include "runtime/simulated_loop.h"

namespace fairlead::fuzz {

struct Piece {
  size_t client = 0;  // 0 or 1
  bool reads = true;  // whether the client takes what is sent to it
  std::string_view bytes;
};

// Takes the next piece from the front; false when there is none.
inline bool next_piece(std::string_view& input, Piece& piece) {
  if (input.size() < 2) return false;
  piece.client = static_cast<uint8_t>(input[0]) & 1;
  piece.reads = (static_cast<uint8_t>(input[0]) & 0x80) == 0;
  piece.bytes = input.substr(2, static_cast<uint8_t>(input[1]));
  input.remove_prefix(2 + piece.bytes.size());
  return true;
}

// Forgets what is sent. A client that does not read has as much before it as it may.
class ForgetfulWire final : public edge::Wire {
 public:
  void send(std::string_view bytes) override {
    if (!reads) unsent_ += bytes.size();
  }
  size_t unsent() const override { return reads ? 0 : limits::kUnsentBytesMax + unsent_; }
  void close() override { closed = true; }
  void start_tls() override {}
  void pause() override {}
  void resume() override {}

  bool closed = false;
  bool reads = true;

 private:
  size_t unsent_ = 0;
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
