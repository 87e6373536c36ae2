// What passes between a session, on the listener's thread, and the desk, on the loop's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bus/open_bus.h"
#include "edge/net/backlog.h"

namespace fairlead::edge::nats {

struct Command {
  enum class Kind {
    kPublish,
    kSubscribe,
    kUnsubscribe,
    kPing,
    kWritten,  // the system has the messages up to `written`
    kGone,
  };
  Kind kind = Kind::kPing;
  uint64_t client = 0;
  size_t cost = 0;  // given back when the command is done

  // Of a publish. The id of a subscription's message is not used.
  bus::Message message{};
  bool tell_no_responders = false;

  // Of a subscribe: message.subject is the pattern.
  std::string name{};
  std::string queue{};
  bool echo = true;
  std::shared_ptr<Backlog> backlog{};
  std::optional<uint64_t> max{};  // of an unsubscribe
  uint64_t written = 0;
};

struct Reply {
  enum class Kind {
    kMessage,
    kPong,
    kDone,   // a command; `cost` of it
    kError,  // `text`; the connection goes on
    kSlow,   // the client was given up
  };
  Kind kind = Kind::kDone;
  uint64_t client = 0;
  size_t cost = 0;  // of a message: bytes that are no longer in transit
  std::string text{};
  // Of a message that somebody wants to know to be written: grows with each. Else 0.
  uint64_t number = 0;
  std::shared_ptr<const std::string> name{};  // of the subscription
  std::string subject{};
  std::string payload{};
  std::shared_ptr<const bus::Extras> extras{};
};

}  // namespace fairlead::edge::nats
