// The effective configuration out of the documents that services share through the store: the
// `data` of cfg:system:default, cfg:org:<tenant>, cfg:team:<id>, cfg:workflow:<id> and
// cfg:step:<id>, merged in this order. Objects are merged by name; of anything else the later
// counts. A document that is not there says nothing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "runtime/clock.h"
#include "runtime/future.h"
#include "scheduler/effective_config.h"
#include "store/store.h"

namespace fairlead::scheduler {

class StoredConfig final : public EffectiveConfig {
 public:
  // Both outlive it.
  StoredConfig(store::Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  // An error: the store does not tell, or a document cannot be read.
  Task<Result<std::string>> resolve(ConfigScope scope) override;

 private:
  // What a document says; nullptr: nothing.
  using Data = std::shared_ptr<const boost::json::object>;
  struct Kept {
    Data data;
    MonotonicTime until;
  };

  Task<Result<Data>> data_of(std::string key);
  Task<Result<Data>> read(const std::string& key);
  void keep(std::string key, Data data);

  store::Store& store_;
  const Clock& clock_;
  std::map<std::string, Kept> kept_;
  // Documents that are being read, and who waits for them beside the one who reads: many jobs that
  // come at once cost one reading.
  std::map<std::string, std::vector<Completer<Result<Data>>>> reading_;
};

}  // namespace fairlead::scheduler
