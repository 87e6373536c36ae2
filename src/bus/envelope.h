// A message on its way to the handlers of this process.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bus/bus.h"

namespace fairlead::bus {

// What was published: one for all the groups that got it.
struct Envelope {
  std::string subject;
  std::string payload;
  std::string id;
  std::string mark;
  Sequence sequence;
  WallTime stored_at;
  bool in_order = true;  // see Delivery
  std::shared_ptr<const Extras> extras;
  uint64_t origin = 0;

  // The publisher's answer, and the groups that it depends on: of a durable message those that
  // consume it, of a plain one all that took it. None: it was answered.
  std::optional<Completer<Result<Published>>> answer;
  size_t groups = 0;
  size_t groups_settled = 0;
  size_t groups_refused = 0;
  bool doubtful = false;  // whether a group has it is not known
  bool plain = false;     // not on a durable subject
};

// A message as one group sees it.
struct Entry {
  std::shared_ptr<Envelope> envelope;
  uint32_t deliveries = 0;
  uint32_t forgiven = 0;           // of these, the ones that were not its fault
  std::optional<Sequence> stored;  // its place in the store; then the publisher is answered
  std::optional<uint64_t> key;     // hash of its key, while it runs
};

}  // namespace fairlead::bus
