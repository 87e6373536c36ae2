// What an acknowledgement of the server is worth, as far as it tells. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "base/time.h"

namespace fairlead::bus::nats {

struct StreamDurability {
  std::string name;
  std::string storage;  // "file" or "memory"
  uint64_t replicas = 1;
};

struct Durability {
  std::vector<StreamDurability> streams;  // none: there is no JetStream
  // The following as the monitoring port tells; empty, nothing and false where it was not asked.
  std::string version;
  std::optional<Duration> sync_interval;  // between two times at which files are forced to the disk
  bool sync_always = false;               // before every acknowledgement

  // When something that was acknowledged can be lost, in one sentence.
  std::string sentence() const;
};

// Of the answer to STREAM.INFO.
StreamDurability stream_durability(const boost::json::object& info);
// Of /varz. Servers before 2.10 have no such settings and say nothing.
void read_varz(const boost::json::object& varz, Durability& durability);

}  // namespace fairlead::bus::nats
