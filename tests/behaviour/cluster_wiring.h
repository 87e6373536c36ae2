// One replica of a cluster: its store is on a real Redis.
#pragma once

#include "bus/local/local_bus.h"
#include "store/redis/redis_store.h"
#include "tests/behaviour/cluster_servers.h"
#include "tests/behaviour/wiring.h"

namespace fairlead::behaviour {

class ClusterWiring final : public Wiring {
 public:
  explicit ClusterWiring(const Plugs& plugs);
  ~ClusterWiring() override;

  Result<void> open_store() override;
  Task<Result<void>> open_bus(store::Store& seen) override;
  void drop_bus() override;
  void crash() override;
  store::Store& store() override { return *store_; }
  bus::Bus& bus() override { return *bus_; }
  bus::Bus& outside() override { return *bus_; }
  const Clock& clock() override { return store_->clock(); }
  bool alone() const override { return false; }
  IdleSweeps* idle_sweeps() override { return &idle_sweeps_; }
  void settle() override;
  void set_time(MonotonicTime time) override;

 private:
  Plugs plugs_;
  ClusterServers& servers_ = ClusterServers::shared();
  IdleSweeps idle_sweeps_{servers_};
  std::unique_ptr<store::redis::RedisStore> store_;
  std::unique_ptr<bus::LocalBus> bus_;
};

}  // namespace fairlead::behaviour
