#include "app/config_watch.h"

#include <utility>

#include "scheduler/packets.h"

namespace fairlead::app {

namespace {

// Others write the document too: tries to put ours over the one that was read.
constexpr int kMergeTriesMax = 10;

}  // namespace

ConfigWatch::ConfigWatch(Plugs plugs, scheduler::OverlayFiles files, Duration every, Use use)
    : plugs_(plugs),
      files_(std::move(files)),
      every_(every),
      use_(std::move(use)),
      self_(std::make_shared<ConfigWatch*>(this)) {}

Task<Result<void>> ConfigWatch::start() {
  auto listening =
      plugs_.bus.subscribe(std::string(bus::kConfigSubject), {},
                           [this](bus::Delivery delivery) { return heard(std::move(delivery)); });
  if (!listening) co_return std::unexpected(listening.error());
  subscription_ = *std::move(listening);
  if (auto merged = co_await merge(); !merged) co_return merged;
  co_return co_await look();
}

Task<Result<void>> ConfigWatch::merge() {
  for (int tries = 0; tries < kMergeTriesMax; ++tries) {
    auto blob = co_await plugs_.store.blob(scheduler::kOverlayKey);
    if (!blob) co_return std::unexpected(blob.error());
    std::optional<std::string> present;
    if (*blob) present = std::move((*blob)->bytes);
    auto merged = merge_files(present.value_or(""), files_, plugs_.clock.wall());
    if (!merged) {
      plugs_.log.warning("shared configuration not readable, the files are not taken in",
                         {{"error", merged.error().message}});
      co_return Result<void>{};
    }
    if (!*merged) co_return Result<void>{};
    auto swapped = co_await plugs_.store.swap_blob(scheduler::kOverlayKey, std::move(present),
                                                   {**std::move(merged), std::nullopt});
    if (!swapped) co_return std::unexpected(swapped.error());
    if (*swapped) {
      announce("system", "default");
      co_return Result<void>{};
    }
  }
  co_return fail(ErrorCode::kUnavailable, "the shared configuration keeps changing");
}

Task<Result<void>> ConfigWatch::look() {
  if (auto others = co_await use_.others(); !others) co_return others;
  auto blob = co_await plugs_.store.blob(scheduler::kOverlayKey);
  if (!blob) co_return std::unexpected(blob.error());
  if (!*blob || (*blob)->bytes == refused_) co_return Result<void>{};
  auto overlay = scheduler::parse_overlay((*blob)->bytes);
  Result<void> taken;
  if (!overlay) taken = std::unexpected(overlay.error());
  if (overlay && overlay->canonical == in_force_) co_return Result<void>{};
  if (overlay && overlay->pools) taken = co_await use_.pools(overlay->pools);
  if (!taken) {
    refused_ = std::move((*blob)->bytes);
    plugs_.log.warning("shared configuration refused, what was in force stays",
                       {{"error", taken.error().message}});
    co_return Result<void>{};
  }
  refused_.clear();
  if (overlay->timeouts) use_.timeouts(*overlay->timeouts);
  if (overlay->fail_mode) use_.fail_mode(*overlay->fail_mode);
  in_force_ = std::move(overlay->canonical);
  plugs_.log.info("shared configuration in force", {});
  co_return Result<void>{};
}

Task<void> ConfigWatch::keep_watching() {
  while (true) {
    auto woken = next_look_.emplace().future();
    const TimerId timer =
        plugs_.loop.call_at(plugs_.loop.now() + every_, [self = std::weak_ptr(self_)] {
          if (auto watch = self.lock()) (*watch)->look_now();
        });
    if (std::exchange(missed_, false)) look_now();
    if (!co_await woken) co_return;
    plugs_.loop.cancel(timer);
    if (auto looked = co_await look(); !looked) {
      plugs_.log.warning("shared configuration not read", {{"error", looked.error().message}});
    }
  }
}

void ConfigWatch::look_now() {
  if (next_look_) {
    std::exchange(next_look_, {})->complete({});
  } else {
    missed_ = true;
  }
}

Task<bus::Verdict> ConfigWatch::heard(bus::Delivery delivery) {
  Result<scheduler::Packet> packet = scheduler::read_packet(delivery.payload);
  if (packet && scheduler::is_config_changed(**packet)) look_now();
  co_return bus::Verdict::ack();
}

Task<Result<void>> ConfigWatch::take_pools(std::shared_ptr<const routing::PoolMap> file) {
  files_.pools = std::move(file);
  auto merged = co_await merge();
  if (merged) look_now();
  co_return merged;
}

void ConfigWatch::announce(std::string_view scope, std::string_view scope_id) {
  (void)plugs_.bus.publish(std::string(bus::kConfigSubject),
                           scheduler::config_changed_packet(scope, scope_id, plugs_.clock.wall()),
                           {});
}

}  // namespace fairlead::app
