// The bus on NATS keeps the contract of every bus.
#include "bus/contract/bus_contract.h"
#include "bus/nats/nats_bus_fixture.h"

namespace fairlead::bus::nats {
namespace {

class NatsWorld final : public BusWorld {
 public:
  NatsWorld() { EXPECT_TRUE(process_.start()); }
  Bus& bus() override { return *process_.bus; }
  void prepare(const std::string& subject, const std::string& queue) override {
    EXPECT_TRUE(process_.bind(subject, queue));
  }
  void on_terminated(TerminatedHook hook) override { process_.bus->on_terminated(std::move(hook)); }
  bool run_until(const std::function<bool()>& done) override { return loop_.run_until(done); }
  // What was asked before an answer comes is known to the server.
  void settle() override { loop_.wait(process_.bus->publish("settle", "", "")).value(); }
  void run_for(Duration duration) override { loop_.run_for(duration); }
  MonotonicTime now() override { return loop_.loop().now(); }

 private:
  cluster::NatsServerProcess server_;
  RealLoop loop_;
  Process process_{loop_, with_jetstream(server_)};
};

INSTANTIATE_TEST_SUITE_P(Nats, BusContract,
                         testing::Values(BusKind{"nats",
                                                 [] { return std::make_unique<NatsWorld>(); }}));

}  // namespace
}  // namespace fairlead::bus::nats
