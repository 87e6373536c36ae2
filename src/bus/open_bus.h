// A bus that also carries messages of clients outside the process: they may ask for an answer,
// bring headers, and want to know the place of what they sent.
#pragma once

#include <memory>
#include <string>

#include "bus/bus.h"

namespace fairlead::bus {

struct Message {
  std::string subject;
  std::string payload;
  std::string id;                          // as of Bus::publish
  std::shared_ptr<const Extras> extras{};  // nullptr: none
  uint64_t origin = 0;                     // see SubscribeOptions::deaf_to; 0: nobody is deaf to it
};

struct Sent {
  // Of this message, or of the one that it repeats; 0 when it was not accepted.
  Sequence sequence;
  bool duplicate = false;
  Future<Result<Published>> published;
};

class OpenBus : public Bus {
 public:
  // As publish().
  virtual Sent send(Message message) = 0;
};

}  // namespace fairlead::bus
