#include "bus/nats/durability.h"

#include <algorithm>

#include <fmt/format.h>

#include <boost/json.hpp>

#include "bus/nats/jetstream_api.h"

namespace fairlead::bus::nats {

StreamDurability stream_durability(const boost::json::object& info) {
  return {text_at(info, "config.name"), text_at(info, "config.storage"),
          std::max<uint64_t>(1, number_at(info, "config.num_replicas"))};
}

void read_varz(const boost::json::object& varz, Durability& durability) {
  durability.version = text_at(varz, "version");
  const uint64_t nanos = number_at(varz, "jetstream.config.sync_interval");
  if (nanos > 0) durability.sync_interval = Duration(static_cast<int64_t>(nanos / 1000));
  const boost::json::value* jetstream = varz.if_contains("jetstream");
  const boost::json::value* config =
      jetstream && jetstream->is_object() ? jetstream->get_object().if_contains("config") : nullptr;
  const boost::json::value* always =
      config && config->is_object() ? config->get_object().if_contains("sync_always") : nullptr;
  durability.sync_always = always && always->is_bool() && always->get_bool();
}

std::string Durability::sentence() const {
  if (streams.empty()) {
    return "Without JetStream nothing is kept: a message is lost when nobody listens to it.";
  }
  const auto weakest =
      std::ranges::min(streams, {}, [](const StreamDurability& each) { return each.replicas; });
  const bool in_memory =
      std::ranges::any_of(streams, [](const auto& each) { return each.storage != "file"; });
  const std::string who =
      weakest.replicas > 1
          ? fmt::format("more than {} of {} machines", (weakest.replicas - 1) / 2, weakest.replicas)
          : "the machine";
  if (in_memory) {
    return fmt::format(
        "An acknowledged message is lost when nats-server stops on {}: a stream is "
        "kept in memory.",
        who);
  }
  if (sync_always) {
    return fmt::format("An acknowledged message is on the disk, and lost only with the disk of {}.",
                       who);
  }
  const std::string last =
      sync_interval
          ? fmt::format("the last {}s", std::chrono::duration<double>(*sync_interval).count())
          : "the last seconds to minutes";
  return fmt::format(
      "An acknowledged message survives a crash of nats-server; in a power failure "
      "of {}, those of {} can be lost, for they are forced to the disk only later.",
      who, last);
}

}  // namespace fairlead::bus::nats
