// How RocksDB is set up.
#pragma once

#include <vector>

#include <rocksdb/db.h>

#include "store/rocksdb/database.h"
#include "store/rocksdb/rocks_options.h"

namespace fairlead::store {

const char* family_name(Family family);

rocksdb::DBOptions database_options(const RocksOptions& options);
// Every family with its options, in the order of the enum.
std::vector<rocksdb::ColumnFamilyDescriptor> families(const RocksOptions& options);

}  // namespace fairlead::store
