// One process: the bus of its own, and a store in memory (which stands for the disk) or RocksDB.
#pragma once

#include <string>

#include "bus/local/local_bus.h"
#include "store/memory/memory_store.h"
#include "store/rocksdb/rocks_store.h"
#include "tests/behaviour/wiring.h"

namespace fairlead::behaviour {

class EmbeddedWiring final : public Wiring {
 public:
  EmbeddedWiring(Mode mode, const Plugs& plugs);
  ~EmbeddedWiring() override;

  Result<void> open_store() override;
  Task<Result<void>> open_bus(store::Store& seen) override;
  void drop_bus() override;
  void crash() override;
  store::Store& store() override;
  bus::Bus& bus() override { return *bus_; }
  bus::Bus& outside() override { return *bus_; }
  const Clock& clock() override { return plugs_.clock; }
  bool alone() const override { return true; }
  void settle() override;

 private:
  Plugs plugs_;
  std::string folder_;  // of RocksDB; empty: in memory
  std::unique_ptr<store::MemoryStore> memory_;
  std::unique_ptr<store::RocksStore> rocks_;
  std::unique_ptr<bus::LocalBus> bus_;
};

}  // namespace fairlead::behaviour
