// The local bus keeps the contract of every bus.
#include "bus/contract/bus_contract.h"
#include "bus/local/local_bus.h"
#include "bus/local/local_bus_fixture.h"
#include "runtime/simulated_loop.h"
#include "store/memory/memory_store.h"

namespace fairlead::bus {
namespace {

class LocalWorld final : public BusWorld {
 public:
  LocalWorld() {
    tasks_.spawn(start());
    loop_.run_ready();
  }
  Bus& bus() override { return bus_; }
  void prepare(const std::string&, const std::string&) override {}
  void on_terminated(TerminatedHook hook) override { bus_.on_terminated(std::move(hook)); }
  bool run_until(const std::function<bool()>& done) override {
    loop_.run_ready();
    for (int tries = 0; tries < 60'000 && !done(); ++tries) loop_.run_for(1ms);
    return done();
  }
  void settle() override { loop_.run_ready(); }
  void run_for(Duration duration) override { loop_.run_for(duration); }
  MonotonicTime now() override { return loop_.now(); }

 private:
  Task<void> start() { EXPECT_TRUE(co_await bus_.start()); }

  SimulatedLoop loop_;
  LoopClock clock_{loop_};
  store::MemoryStore store_{clock_};
  LocalBus bus_{loop_, clock_, store_};
  Nursery tasks_;
};

INSTANTIATE_TEST_SUITE_P(Local, BusContract,
                         testing::Values(BusKind{"local",
                                                 [] { return std::make_unique<LocalWorld>(); }}));

}  // namespace
}  // namespace fairlead::bus
