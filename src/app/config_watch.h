// The configuration that the services of a cluster share: read at the start, again when somebody
// says that it was changed, and now and then in case nobody did (CFG-7).
//
//   start: files ──merge──► cfg:system:default ──► in force
//   a notice on sys.config.changed, or time ──► read ──► other than before? ──► in force
//
// One that makes no sense is told of, and what was in force stays.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "bus/bus.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "runtime/task.h"
#include "scheduler/overlay.h"
#include "store/store.h"

namespace fairlead::app {

class ConfigWatch {
 public:
  // All must outlive it.
  struct Plugs {
    Loop& loop;
    const Clock& clock;
    store::Store& store;
    bus::Bus& bus;
    Log& log;
  };
  // What comes into force. `others` is told of every notice, and whenever all is read again.
  struct Use {
    std::function<Task<Result<void>>(std::shared_ptr<const routing::PoolMap>)> pools;
    std::function<void(const scheduler::TimeoutsFile&)> timeouts;
    std::function<void(scheduler::FailMode)> fail_mode;
    std::function<Task<Result<void>>()> others;
  };

  ConfigWatch(Plugs plugs, scheduler::OverlayFiles files, Duration every, Use use);

  // Takes the files in, and brings into force what is there.
  Task<Result<void>> start();
  // Listens and looks for as long as it lives.
  Task<void> keep_watching();

  // The pools file was edited.
  Task<Result<void>> take_pools(std::shared_ptr<const routing::PoolMap> file);
  // Tells all replicas, this one too, that something was changed.
  void announce(std::string_view scope, std::string_view scope_id);

 private:
  Task<Result<void>> merge();
  Task<Result<void>> look();
  Task<bus::Verdict> heard(bus::Delivery delivery);
  void look_now();

  Plugs plugs_;
  scheduler::OverlayFiles files_;
  const Duration every_;
  const Use use_;
  std::string in_force_;  // Overlay::canonical
  std::string refused_;   // the document that was told of
  std::optional<Completer<Result<void>>> next_look_;
  bool missed_ = false;  // a notice came while it looked
  std::unique_ptr<bus::Subscription> subscription_;
  // Names the living one to what the loop calls later.
  std::shared_ptr<ConfigWatch*> self_;
};

}  // namespace fairlead::app
