#include "tests/behaviour/cluster_wiring.h"

namespace fairlead::behaviour {

namespace {

// A story's process may be back in the instant in which it crashed. No real one is before its sign
// of life has ended, and until then it would wait for its former self.
constexpr const char* kEndSignsOfLife = R"lua(
for _, key in ipairs(redis.call('KEYS', 'fairlead:alive:*')) do redis.call('DEL', key) end)lua";

}  // namespace

ClusterWiring::ClusterWiring(const Plugs& plugs) : plugs_(plugs) {
  servers_.clear();
  set_time(plugs_.loop.now());
}

ClusterWiring::~ClusterWiring() {
  crash();
}

Result<void> ClusterWiring::open_store() {
  store::redis::RedisOptions options;
  options.url = servers_.redis_url();
  auto opened =
      store::redis::RedisStore::open(std::move(options), plugs_.loop, plugs_.clock, plugs_.log);
  if (!opened) return std::unexpected(opened.error());
  store_ = *std::move(opened);
  return {};
}

Task<Result<void>> ClusterWiring::open_bus(store::Store& seen) {
  bus_ = std::make_unique<bus::LocalBus>(plugs_.loop, store_->clock(), seen);
  return bus_->start();
}

void ClusterWiring::drop_bus() {
  if (bus_) bus_->drop();
}

void ClusterWiring::crash() {
  drop_bus();
  bus_.reset();
  if (!store_) return;
  store_.reset();
  servers_.ask_redis({"EVAL", kEndSignsOfLife, "0"});
}

void ClusterWiring::settle() {
  plugs_.loop.run_ready();
  while (store_ && store_->outstanding() > 0) {
    plugs_.loop.wait_posted();
    plugs_.loop.run_ready();
  }
  idle_sweeps_.settled();
}

void ClusterWiring::set_time(MonotonicTime time) {
  servers_.set_time(plugs_.clock.unset(time));
}

}  // namespace fairlead::behaviour
