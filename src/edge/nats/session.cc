#include "edge/nats/session.h"

#include "bus/bus.h"
#include "edge/nats/headers.h"
#include "edge/net/net_limits.h"

namespace fairlead::edge::nats {

Session::Session(SessionSettings& settings, Wire& wire, Peer peer)
    : settings_(settings),
      wire_(wire),
      peer_(std::move(peer)),
      backlog_(std::make_shared<Backlog>(settings.backlog_of_all)) {
  if (!settings_.credentials.required()) parser_.admit();
}

void Session::opened(MonotonicTime now) {
  opened_at_ = quiet_since_ = now;
  say(info_line(settings_.info, peer_.id, peer_.address));
  if (settings_.info.tls_required) wire_.start_tls();
}

void Session::received(std::string_view bytes) {
  heard_ = true;
  while (!ended_) {
    switch (parser_.parse(bytes)) {
      case Parser::Outcome::kMore:
        account_held();
        return pause_if_full();
      case Parser::Outcome::kBroken:
        return fail_with(parser_.error());
      case Parser::Outcome::kOperation:
        obey(parser_.take());
    }
  }
}

void Session::tick(MonotonicTime now) {
  if (ended_) return;
  if (!parser_.admitted() && now - opened_at_ >= settings_.authentication_wait) {
    return fail_with("Authentication Timeout");
  }
  if (is_stuck(now)) return fail_with("Slow Consumer");
  if (std::exchange(heard_, false)) {
    quiet_since_ = now;
    pings_unanswered_ = 0;
  }
  if (now - quiet_since_ < settings_.ping_every) return;
  if (pings_unanswered_ >= limits::kPingsUnansweredMax) return fail_with("Stale Connection");
  ++pings_unanswered_;
  quiet_since_ = now;
  say("PING\r\n");
}

bool Session::is_stuck(MonotonicTime now) {
  const uint64_t oldest = unwritten_.empty() ? 0 : unwritten_.front().number;
  if (std::exchange(oldest_unwritten_, oldest) != oldest) unwritten_since_ = now;
  return oldest != 0 && now - unwritten_since_ >= limits::kUnwrittenWait;
}

void Session::closed() {
  ended_ = true;
  settings_.undone_of_all -= undone_ + held_;
  undone_ = held_ = 0;
  settings_.hand_over({.kind = Command::Kind::kGone, .client = peer_.id});
  settings_.gone(peer_.id);
}

// --- What clients say ----------------------------------------------------------------------------

void Session::obey(Operation operation) {
  switch (operation.kind) {
    case Operation::Kind::kConnect:
      return connect(operation);
    case Operation::Kind::kPublish:
      return publish(std::move(operation));
    case Operation::Kind::kSubscribe:
      return subscribe(std::move(operation));
    case Operation::Kind::kUnsubscribe:
      return unsubscribe(std::move(operation));
    case Operation::Kind::kPing:
      return ping();
    case Operation::Kind::kPong:
    case Operation::Kind::kIgnored:
      return;
  }
}

void Session::connect(const Operation& operation) {
  Result<ConnectOptions> options = parse_connect_options(operation.text);
  if (!options) return fail_with("Invalid CONNECT: " + options.error().message);
  const Credentials& wanted = settings_.credentials;
  if (wanted.required()) {
    // Both are always asked, so that the time does not tell which one exists.
    const bool by_token = wanted.admits_token(options->token);
    const bool by_user = wanted.admits_user(options->user, options->password);
    if (!by_token && !by_user) return fail_with("Authorization Violation");
  }
  options->token = options->user = options->password = {};
  options_ = *std::move(options);
  parser_.admit();
  acknowledge();
}

void Session::publish(Operation operation) {
  if (!operation.headers.empty() && !options_.headers) {
    return fail_with("Message Headers Not Supported");
  }
  if (!operation.headers.empty() && !is_header_block(operation.headers)) {
    return fail_with("Invalid Message Headers");
  }
  if (!bus::validate_subject(operation.subject) ||
      (!operation.reply.empty() && !bus::validate_subject(operation.reply))) {
    return say(error_line("Invalid Publish Subject"));
  }
  const size_t bytes = operation.subject.size() + operation.reply.size() +
                       operation.headers.size() + operation.payload.size();
  Command command{.kind = Command::Kind::kPublish};
  command.tell_no_responders = options_.no_responders && options_.headers;
  command.message.subject = std::move(operation.subject);
  command.message.payload = std::move(operation.payload);
  command.message.id = header(operation.headers, kMessageIdHeader);
  command.message.origin = options_.echo ? 0 : peer_.id;
  if (!operation.reply.empty() || !operation.headers.empty()) {
    command.message.extras =
        std::make_shared<bus::Extras>(std::move(operation.reply), std::move(operation.headers));
  }
  give(std::move(command), bytes);
  acknowledge();
}

void Session::subscribe(Operation operation) {
  if (!bus::validate_pattern(operation.subject)) return say(error_line("Invalid Subject"));
  if (operation.queue.size() > limits::kSubjectBytesMax) return say(error_line("Invalid Queue"));
  if (operation.name.size() > limits::kSubscriptionNameBytesMax) {
    return say(error_line("Invalid Subscription Id"));
  }
  const size_t bytes = operation.subject.size() + operation.queue.size() + operation.name.size();
  Command command{.kind = Command::Kind::kSubscribe};
  command.message.subject = std::move(operation.subject);
  command.name = std::move(operation.name);
  command.queue = std::move(operation.queue);
  command.echo = options_.echo;
  command.backlog = backlog_;
  give(std::move(command), bytes);
  acknowledge();
}

void Session::unsubscribe(Operation operation) {
  const size_t bytes = operation.name.size();
  Command command{.kind = Command::Kind::kUnsubscribe};
  command.name = std::move(operation.name);
  command.max = operation.max;
  give(std::move(command), bytes);
  acknowledge();
}

void Session::ping() {
  if (undone_ == 0) return say("PONG\r\n");
  give({.kind = Command::Kind::kPing}, 0);
}

void Session::give(Command command, size_t bytes) {
  command.client = peer_.id;
  command.cost = bytes + limits::kOperationBytes;
  undone_ += command.cost;
  settings_.undone_of_all += command.cost;
  pause_if_full();
  settings_.hand_over(std::move(command));
}

// A message that is only half there takes memory too; when there is no more, the one that makes it
// too much has to go.
void Session::account_held() {
  settings_.undone_of_all += parser_.held();
  settings_.undone_of_all -= std::exchange(held_, parser_.held());
  if (settings_.undone_of_all > 2 * limits::kUndoneBytesOfAllMax &&
      held_ > limits::kUnsentBytesWhenFull) {
    fail_with("Too Many Messages Half Received");
  }
}

void Session::pause_if_full() {
  const bool full = settings_.undone_of_all > limits::kUndoneBytesOfAllMax;
  settings_.held_up |= full;
  // One with nothing undone goes on: what it and others have half received would else wait for
  // ever.
  if (paused_ || ended_ || undone_ == 0 || (!full && undone_ <= limits::kUndoneBytesMax)) return;
  paused_ = true;
  wire_.pause();
}

// --- What clients hear ---------------------------------------------------------------------------

void Session::take(Reply reply) {
  if (reply.kind == Reply::Kind::kMessage) backlog_->end_transit(reply.cost);
  if (ended_) return;
  switch (reply.kind) {
    case Reply::Kind::kMessage: {
      std::string bytes;
      append_message(bytes, reply, options_.headers);
      if (reply.number > 0) unwritten_.push_back({reply.number, said_bytes_ + bytes.size()});
      return say(bytes);
    }
    case Reply::Kind::kPong:
      return say("PONG\r\n");
    case Reply::Kind::kError:
      return say(error_line(reply.text));
    case Reply::Kind::kSlow:
      return fail_with("Slow Consumer");
    case Reply::Kind::kDone:
      undone_ -= reply.cost;
      settings_.undone_of_all -= reply.cost;
      return resume_if_room();
  }
}

void Session::resume_if_room() {
  if (!paused_ || ended_ || undone_ > limits::kUndoneBytesMax / 2) return;
  if (settings_.undone_of_all > limits::kUndoneBytesOfAllMax / 2 && undone_ > 0) return;
  paused_ = false;
  wire_.resume();
}

void Session::sent(size_t bytes) {
  backlog_->set_unsent(wire_.unsent());
  sent_bytes_ += bytes;
  uint64_t written = 0;
  for (; !unwritten_.empty() && unwritten_.front().end <= sent_bytes_; unwritten_.pop_front()) {
    written = unwritten_.front().number;
  }
  if (written == 0) return;
  settings_.hand_over({.kind = Command::Kind::kWritten, .client = peer_.id, .written = written});
}

void Session::say(std::string_view bytes) {
  wire_.send(bytes);
  said_bytes_ += bytes.size();
  backlog_->set_unsent(wire_.unsent());
  // Answers that are not read are as bad as messages.
  if (!ended_ && backlog_->too_slow()) fail_with("Slow Consumer");
}

void Session::acknowledge() {
  if (options_.verbose && !ended_) say("+OK\r\n");
}

void Session::fail_with(std::string_view text) {
  if (std::exchange(ended_, true)) return;
  wire_.send(error_line(text));
  wire_.close();
}

}  // namespace fairlead::edge::nats
