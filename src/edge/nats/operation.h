// What a client can say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fairlead::edge::nats {

struct Operation {
  enum class Kind { kConnect, kPing, kPong, kPublish, kSubscribe, kUnsubscribe, kIgnored };
  Kind kind = Kind::kIgnored;
  std::string text;     // of a connect: its JSON
  std::string subject;  // of a publish or subscribe
  std::string reply;
  std::string queue;
  std::string name;             // of a subscription, as the client calls it
  std::optional<uint64_t> max;  // of an unsubscribe: after so many messages
  std::string headers;
  std::string payload;
};

}  // namespace fairlead::edge::nats
