// The connection to a NATS server, made again for ever when it breaks.
//
//   loop thread                          a thread of the link's own          libnats' thread
//   send, listen, ignore ──► buffer ──► writes and reads the socket ──► takes messages apart
//   arrived, connected, lost ◄──────────── one posted turn ◄──────────────── inbox
//
// Nothing waits on the loop's thread: what is sent goes into a buffer that the link's thread writes
// out, and what arrives is handed over in batches. libnats' own reconnecting is not used: it would
// send again what we have already called unknown, and it gives up when it is refused twice.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "bus/nats/settings.h"
#include "runtime/loop.h"

namespace fairlead::bus::nats {

struct Arrival {
  uint64_t listener = 0;  // as listen() named it
  std::string subject;
  std::string reply;
  std::string headers;  // a block as on the wire; empty: none
  std::string payload;
  bool no_responders = false;  // the server says that nobody listens to what was sent
};

struct Outgoing {
  std::string_view subject;
  std::string_view payload;
  std::string_view reply{};
  std::string_view message_id{};  // the header Nats-Msg-Id; empty: none
};

enum class Sending {
  kSent,          // in the buffer of a living connection; it may still be lost with it
  kNotConnected,  // nobody will get it
  kTooLarge,      // the server takes no message of this size
};

class Inbox;

class Link {
 public:
  // Called on the loop's thread, until the link is destroyed.
  struct Callbacks {
    std::function<void(Arrival)> arrived;
    // Every listener listens.
    std::function<void()> connected;
    // The connection broke, or a try to make one failed; another follows.
    std::function<void(const std::string& why)> lost;
    // What the server complained about without breaking the connection.
    std::function<void(const std::string& what)> complained;
    // Nothing comes any more for a listener that ignores.
    std::function<void(uint64_t listener)> ended = [](uint64_t) {};
  };
  // Whether messages that the loop does not keep up with may be dropped.
  enum class Care { kMayDrop, kKeepAll };

  // `loop` must outlive the link.
  Link(Loop& loop, Settings settings, Callbacks callbacks);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  // Sends what is in the buffer, for limits::kNatsFlushWait at the most, and waits for a try to
  // connect that is under way.
  ~Link();

  void open();

  // As the callbacks have told.
  bool connected() const { return connected_; }
  Sending send(const Outgoing& message);

  // Also before there is a connection; kept over all that follow.
  uint64_t listen(std::string subject, std::string queue, Care care);
  // What is on its way still arrives, and then ended() is called.
  void ignore(uint64_t listener);

  // Messages that were dropped because the loop did not keep up.
  uint64_t dropped() const;
  // Of the server connected to last; empty before.
  const std::string& server_url() const { return server_url_; }

 private:
  class Line;
  bool connected_ = false;
  std::string server_url_;
  std::shared_ptr<Inbox> inbox_;
  std::unique_ptr<Line> line_;
};

}  // namespace fairlead::bus::nats
