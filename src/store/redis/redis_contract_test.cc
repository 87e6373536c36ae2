#include "store/contract_suite.h"
#include "store/redis/redis_fixture.h"

namespace fairlead::store {

namespace {

StoreKind redis_kind() {
  StoreKind kind;
  kind.name = "Redis";
  kind.open = [last = std::string()](Loop& loop, const Clock& clock,
                                     const std::string& folder) mutable {
    // A folder is a test's own; the same one again is the same test, which opens its store again.
    if (std::exchange(last, folder) != folder) redis::shared_server().ask({"FLUSHALL"});
    return redis::open_store(redis::shared_server().url(), loop, clock);
  };
  kind.advance_servers = [](Duration duration) {
    redis::advance_server(redis::shared_server(), duration);
  };
  return kind;
}

}  // namespace

FAIRLEAD_STORE_CONTRACT(redis_kind());
FAIRLEAD_STORE_DURABILITY(redis_kind());

}  // namespace fairlead::store
