#include "store/contract_suite.h"
#include "store/rocksdb/rocks_store.h"
#include "store/rocksdb/test_disk.h"

namespace fairlead::store {

namespace {

StoreKind rocksdb_kind() {
  return {"RocksDb",
          [disk = TestDisk::make()](Loop& loop, const Clock& clock, const std::string& folder) {
            auto store = RocksStore::open({.path = folder, .env = disk->env()}, loop, clock);
            EXPECT_TRUE(store) << store.error().message;
            return store ? *std::move(store) : nullptr;
          }};
}

}  // namespace

FAIRLEAD_STORE_CONTRACT(rocksdb_kind());
FAIRLEAD_STORE_DURABILITY(rocksdb_kind());
FAIRLEAD_STORE_OF_ONE_PROCESS(rocksdb_kind());

}  // namespace fairlead::store
