#include "store/memory/memory_store.h"

#include "store/contract_suite.h"

namespace fairlead::store {

FAIRLEAD_STORE_CONTRACT((StoreKind{"Memory", [](Loop&, const Clock& clock, const std::string&) {
                                     return std::make_unique<MemoryStore>(clock);
                                   }}));

}  // namespace fairlead::store
