// The protocol of one connection, without IO: bytes and time in; bytes, commands and the end of the
// connection out. Lives on the listener's thread.
//
//   opened: INFO ──► (TLS) ──► CONNECT, checked ──► PUB SUB UNSUB PING … until close
//
// Without credentials to show, CONNECT may be left out. What a client says is answered in the order
// in which it takes effect: a PONG comes after everything before its PING was done by the desk,
// except that durable publishes may still wait for their commit.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "edge/nats/connect_options.h"
#include "edge/nats/exchange.h"
#include "edge/nats/parser.h"
#include "edge/nats/wire_text.h"
#include "edge/net/protocol.h"
#include "edge/net/session_settings.h"

namespace fairlead::edge::nats {

// What all sessions of a listener share.
struct SessionSettings : CommonSessionSettings<Command> {
  ServerInfo info;
  Duration ping_every = limits::kPingEvery;
};

class Session final : public Protocol {
 public:
  Session(SessionSettings& settings, Wire& wire, Peer peer);

  void opened(MonotonicTime now) override;
  void received(std::string_view bytes) override;
  void sent(size_t bytes) override;
  void tick(MonotonicTime now) override;
  void closed() override;

  // What the desk says.
  void take(Reply reply);
  // Goes on reading if it was only held up by what the others had handed over.
  void resume_if_room();

 private:
  void obey(Operation operation);
  void connect(const Operation& operation);
  void publish(Operation operation);
  void subscribe(Operation operation);
  void unsubscribe(Operation operation);
  void ping();
  // Whether a job has not been written for too long.
  bool is_stuck(MonotonicTime now);
  void give(Command command, size_t bytes);
  void account_held();
  void pause_if_full();
  void say(std::string_view bytes);
  void acknowledge();
  void fail_with(std::string_view text);

  SessionSettings& settings_;
  Wire& wire_;
  const Peer peer_;
  std::shared_ptr<Backlog> backlog_;
  Parser parser_;
  ConnectOptions options_;
  // Messages that the desk wants to know to be written, and where in our output each ends.
  struct Unwritten {
    uint64_t number;
    uint64_t end;
  };
  std::deque<Unwritten> unwritten_;
  uint64_t oldest_unwritten_ = 0;  // at the last tick; 0: there was none
  MonotonicTime unwritten_since_;  // first tick that saw it
  uint64_t said_bytes_ = 0;
  uint64_t sent_bytes_ = 0;
  size_t undone_ = 0;  // cost of commands that the desk has not done
  size_t held_ = 0;    // of the parser, as counted in undone_of_all
  bool ended_ = false;
  bool paused_ = false;
  bool heard_ = false;  // something since the last tick
  int pings_unanswered_ = 0;
  MonotonicTime opened_at_;
  MonotonicTime quiet_since_;  // last tick that had heard something, or last ping
};

}  // namespace fairlead::edge::nats
