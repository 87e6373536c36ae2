#include "tests/behaviour/embedded_wiring.h"

#include <cstdlib>
#include <filesystem>

#include "base/check.h"

namespace fairlead::behaviour {

namespace {

std::string make_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "fairlead-story-XXXXXX").string();
  check(mkdtemp(name.data()) != nullptr, "there is room for a temporary folder");
  return name;
}

}  // namespace

EmbeddedWiring::EmbeddedWiring(Mode mode, const Plugs& plugs) : plugs_(plugs) {
  if (mode == Mode::kRocksDb) {
    folder_ = make_folder();
  } else {
    memory_ = std::make_unique<store::MemoryStore>(plugs.clock);
  }
}

EmbeddedWiring::~EmbeddedWiring() {
  crash();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

Result<void> EmbeddedWiring::open_store() {
  if (memory_) return {};
  store::RocksOptions options;
  options.path = folder_;
  options.fsync = false;  // stories do not pull the plug
  auto opened = store::RocksStore::open(std::move(options), plugs_.loop, plugs_.clock);
  if (!opened) return std::unexpected(opened.error());
  rocks_ = *std::move(opened);
  return {};
}

Task<Result<void>> EmbeddedWiring::open_bus(store::Store& seen) {
  bus_ = std::make_unique<bus::LocalBus>(plugs_.loop, plugs_.clock, seen);
  return bus_->start();
}

void EmbeddedWiring::drop_bus() {
  if (bus_) bus_->drop();
}

void EmbeddedWiring::crash() {
  drop_bus();
  bus_.reset();
  rocks_.reset();
}

store::Store& EmbeddedWiring::store() {
  return rocks_ ? static_cast<store::Store&>(*rocks_) : *memory_;
}

void EmbeddedWiring::settle() {
  plugs_.loop.run_ready();
  while (rocks_ && rocks_->outstanding() > 0) {
    plugs_.loop.wait_posted();
    plugs_.loop.run_ready();
  }
}

}  // namespace fairlead::behaviour
