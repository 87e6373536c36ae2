// The protocol of one connection, without IO: bytes and time in; bytes, requests and the end of the
// connection out. Lives on the listener's thread.
//
// Every command has a slot for its answer. Those that need the store are answered when it has; a
// slot is sent when all before it have been.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "edge/net/protocol.h"
#include "edge/net/session_settings.h"
#include "edge/resp/exchange.h"
#include "edge/resp/parser.h"

namespace fairlead::edge::resp {

using SessionSettings = CommonSessionSettings<Request>;

class Session final : public Protocol {
 public:
  Session(SessionSettings& settings, Wire& wire, uint64_t id);

  void opened(MonotonicTime now) override { opened_at_ = now; }
  void received(std::string_view bytes) override;
  void sent(size_t) override { backlog_->set_unsent(wire_.unsent()); }
  void tick(MonotonicTime now) override;
  void closed() override;

  // What the shelf says.
  void take(Answer answer);
  // Goes on reading if it was only held up by what the others had handed over.
  void resume_if_room();

 private:
  void obey(Arguments words);
  std::string answer_at_once(std::string_view verb, const Arguments& words);
  std::string hello(const Arguments& words);
  std::string authenticate(const Arguments& words);
  std::string client(const Arguments& words);
  bool admits(std::string_view user, std::string_view password) const;
  bool set_name(std::string_view name);
  void ask(Request request, size_t bytes);
  void answer(std::string bytes);
  void send_ready();
  void pause_if_full();
  void account_held();
  void fail_with(std::string_view bytes);

  SessionSettings& settings_;
  Wire& wire_;
  const uint64_t id_;
  std::shared_ptr<Backlog> backlog_;
  Parser parser_;
  Version version_ = Version::kTwo;
  std::string name_;
  std::deque<std::optional<std::string>> slots_;  // answers not yet sent; empty: not yet known
  uint64_t first_slot_ = 0;                       // the number of the first of them
  size_t undone_ = 0;                             // cost of requests that are not answered
  size_t held_ = 0;                               // of the parser, as counted in undone_of_all
  bool ended_ = false;
  bool closing_ = false;  // after the last answer
  bool paused_ = false;
  MonotonicTime opened_at_;
};

}  // namespace fairlead::edge::resp
