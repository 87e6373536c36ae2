// Two NATS clients that say anything, on a bus with a scheduler's group.
#include <memory>

#include "base/check.h"
#include "bus/local/local_bus.h"
#include "edge/nats/desk.h"
#include "edge/nats/session.h"
#include "fuzz/pieces.h"
#include "runtime/nursery.h"
#include "store/memory/memory_store.h"

namespace fairlead::fuzz {
namespace {

namespace nats = edge::nats;

class World {
 public:
  World() {
    tasks_.spawn(start());
    loop_.run_ready();
    settings_.backlog_of_all = std::make_shared<std::atomic<size_t>>(0);
    settings_.hand_over = [this](nats::Command command) {
      commands_.push_back(std::move(command));
    };
    settings_.gone = [](uint64_t) {};
    for (uint64_t i = 0; i < 2; ++i) {
      sessions_[i] = std::make_unique<nats::Session>(settings_, wires_[i], edge::Peer{i, "::1", 1});
      sessions_[i]->opened(loop_.now());
    }
  }
  ~World() {
    for (auto& session : sessions_) session->closed();
    turn();
    for (auto& session : sessions_) session.reset();
    check(settings_.undone_of_all == 0, "what clients handed over is done or forgotten");
    check(desk_.subscriptions() == 0, "subscriptions go with their client");
    check(*settings_.backlog_of_all == 0, "nothing is left on its way");
    tasks_.drop();
    bus_.drop();
  }

  void say(const Piece& piece) {
    wires_[piece.client].reads = piece.reads;
    if (!wires_[piece.client].closed) sessions_[piece.client]->received(piece.bytes);
    turn();
  }

 private:
  Task<void> start() {
    (void)co_await bus_.start();
    scheduler_ = *bus_.subscribe(
        std::string(bus::kSubmitSubject), {.queue = std::string(bus::kSchedulerQueue)},
        [](bus::Delivery) -> Task<bus::Verdict> { co_return bus::Verdict::ack(); });
  }
  void turn() {
    if (!commands_.empty()) desk_.obey(std::exchange(commands_, {}));
    loop_.run_for(limits::kRetryBusy);
    for (nats::Reply& reply : std::exchange(replies_, {})) {
      if (sessions_[reply.client]) sessions_[reply.client]->take(std::move(reply));
    }
  }

  SimulatedLoop loop_;
  LoopClock clock_{loop_};
  NoLog log_;
  store::MemoryStore store_{clock_};
  bus::LocalBus bus_{loop_, clock_, store_};
  nats::SessionSettings settings_;
  std::vector<nats::Command> commands_;
  std::vector<nats::Reply> replies_;
  ForgetfulWire wires_[2];
  std::unique_ptr<nats::Session> sessions_[2];
  std::unique_ptr<bus::Subscription> scheduler_;
  nats::Desk desk_{loop_, bus_, log_, [this](std::vector<nats::Reply> batch) {
                     for (nats::Reply& reply : batch) replies_.push_back(std::move(reply));
                   }};
  Nursery tasks_;
};

}  // namespace
}  // namespace fairlead::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  fairlead::fuzz::World world;
  for (fairlead::fuzz::Piece piece; next_piece(input, piece);) world.say(piece);
  return 0;
}
