// Two Redis clients that say anything, on a store in memory; the second has to show a password.
#include <memory>

#include "base/check.h"
#include "base/limits.h"
#include "edge/resp/session.h"
#include "edge/resp/shelf.h"
#include "fuzz/pieces.h"
#include "store/memory/memory_store.h"

namespace fairlead::fuzz {
namespace {

namespace resp = edge::resp;

class World {
 public:
  World() {
    for (uint64_t i = 0; i < 2; ++i) {
      settings_[i].backlog_of_all = backlog_;
      settings_[i].hand_over = [this](resp::Request request) {
        requests_.push_back(std::move(request));
      };
      settings_[i].gone = [](uint64_t) {};
      if (i == 1) settings_[i].credentials.token = "pw";
      sessions_[i] = std::make_unique<resp::Session>(settings_[i], wires_[i], i);
      sessions_[i]->opened(loop_.now());
    }
  }
  ~World() {
    for (auto& session : sessions_) session->closed();
    turn();
    for (auto& session : sessions_) session.reset();
    for (const auto& settings : settings_) {
      check(settings.undone_of_all == 0, "what clients handed over is done or forgotten");
    }
    check(shelf_.in_hand() == 0, "every request is answered");
    check(*backlog_ == 0, "nothing is left on its way");
  }

  void say(const Piece& piece) {
    wires_[piece.client].reads = piece.reads;
    if (!wires_[piece.client].closed) sessions_[piece.client]->received(piece.bytes);
    turn();
  }

 private:
  void turn() {
    if (!requests_.empty()) shelf_.obey(std::exchange(requests_, {}));
    loop_.run_for(std::chrono::milliseconds(100));
    for (resp::Answer& answer : std::exchange(answers_, {})) {
      if (sessions_[answer.client]) sessions_[answer.client]->take(std::move(answer));
    }
  }

  SimulatedLoop loop_;
  LoopClock clock_{loop_};
  store::MemoryStore store_{clock_};
  std::shared_ptr<std::atomic<size_t>> backlog_ = std::make_shared<std::atomic<size_t>>(0);
  resp::SessionSettings settings_[2];
  std::vector<resp::Request> requests_;
  std::vector<resp::Answer> answers_;
  ForgetfulWire wires_[2];
  std::unique_ptr<resp::Session> sessions_[2];
  resp::Shelf shelf_{loop_, clock_, store_, limits::kEndedJobTtl,
                     [this](std::vector<resp::Answer> batch) {
                       for (resp::Answer& answer : batch) answers_.push_back(std::move(answer));
                     }};
};

}  // namespace
}  // namespace fairlead::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  fairlead::fuzz::World world;
  for (fairlead::fuzz::Piece piece; next_piece(input, piece);) world.say(piece);
  return 0;
}
