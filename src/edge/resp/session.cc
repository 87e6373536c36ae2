#include "edge/resp/session.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "edge/resp/verbs.h"

namespace fairlead::edge::resp {

namespace {

constexpr size_t kNameBytesMax = 256;
// Of the protocol spoken: libraries look at it before they use what came with it.
constexpr std::string_view kRedisVersion = "7.0.0";

std::string info_text() {
  return fmt::format(
      "# Server\r\nredis_version:{}\r\nredis_mode:standalone\r\nserver_name:fairlead\r\n"
      "# Clients\r\n# Memory\r\n# Persistence\r\nloading:0\r\n# Replication\r\nrole:master\r\n",
      kRedisVersion);
}

}  // namespace

Session::Session(SessionSettings& settings, Wire& wire, uint64_t id)
    : settings_(settings),
      wire_(wire),
      id_(id),
      backlog_(std::make_shared<Backlog>(settings.backlog_of_all)) {
  if (!settings_.credentials.required()) parser_.admit();
}

void Session::received(std::string_view bytes) {
  while (!ended_ && !closing_) {
    Parser::Outcome outcome = parser_.parse(bytes);
    account_held();
    if (outcome == Parser::Outcome::kBroken) {
      return fail_with(parser_.error().empty() ? "" : error(parser_.error()));
    }
    if (outcome == Parser::Outcome::kMore) return pause_if_full();
    obey(parser_.take());
  }
}

// A command that is only half there takes memory too; when there is no more, the one that makes it
// too much has to go.
void Session::account_held() {
  settings_.undone_of_all += parser_.held();
  settings_.undone_of_all -= std::exchange(held_, parser_.held());
  if (settings_.undone_of_all > 2 * limits::kUndoneBytesOfAllMax &&
      held_ > limits::kUnsentBytesWhenFull) {
    fail_with(error("ERR too many payloads are on their way: try again later"));
  }
}

void Session::tick(MonotonicTime now) {
  if (ended_) return;
  if (!parser_.admitted() && now - opened_at_ >= settings_.authentication_wait) {
    fail_with(error("NOAUTH Authentication required."));
  }
}

void Session::closed() {
  ended_ = true;
  settings_.undone_of_all -= undone_ + held_;
  undone_ = held_ = 0;
  settings_.hand_over({.kind = Request::Kind::kGone, .client = id_});
  settings_.gone(id_);
}

// --- Commands ------------------------------------------------------------------------------------

void Session::obey(Arguments words) {
  const std::string verb = lower(words[0]);
  const bool open_to_all = verb == "auth" || verb == "hello" || verb == "quit";
  if (!parser_.admitted() && !open_to_all) {
    return answer(error("NOAUTH Authentication required."));
  }
  if (!needs_store(verb)) return answer(answer_at_once(verb, words));
  size_t bytes = 0;
  for (const std::string& word : words) bytes += word.size();
  auto request = parse_request(verb, std::move(words));
  if (!request) return answer(error(request.error()));
  ask(*std::move(request), bytes);
}

std::string Session::answer_at_once(std::string_view verb, const Arguments& words) {
  const size_t count = words.size();
  if (verb == "ping" && count <= 2) return count == 2 ? bulk(words[1]) : simple("PONG");
  if (verb == "echo" && count == 2) return bulk(words[1]);
  if (verb == "hello") return hello(words);
  if (verb == "auth") return authenticate(words);
  if (verb == "client" && count >= 2) return client(words);
  if (verb == "info") return bulk(info_text());
  if (verb == "select" && count == 2) {
    return words[1] == "0" ? simple("OK") : error("ERR DB index is out of range");
  }
  if (verb == "command") {
    const std::string what = count > 1 ? lower(words[1]) : "";
    if (what == "docs") return map(0, version_);
    if (what == "count") return number(0);
    return array(0);
  }
  if (verb == "quit") {
    closing_ = true;
    return simple("OK");
  }
  for (std::string_view known : {"ping", "echo", "client", "select"}) {
    if (verb == known) return error(wrong_count(verb));
  }
  return error(fmt::format("ERR unknown command '{}'", std::string_view(words[0]).substr(0, 64)));
}

// HELLO [version [AUTH user password] [SETNAME name]]
std::string Session::hello(const Arguments& words) {
  Version version = version_;
  if (words.size() > 1) {
    if (words[1] != "2" && words[1] != "3") return error("NOPROTO unsupported protocol version");
    version = words[1] == "3" ? Version::kThree : Version::kTwo;
  }
  std::optional<std::string_view> name;
  bool admitted = parser_.admitted();
  for (size_t at = 2; at < words.size();) {
    const std::string option = lower(words[at]);
    if (option == "auth" && at + 2 < words.size()) {
      if (!admits(words[at + 1], words[at + 2])) {
        return error("WRONGPASS invalid username-password pair or user is disabled.");
      }
      admitted = true;
      at += 3;
    } else if (option == "setname" && at + 1 < words.size()) {
      name = words[at + 1];
      at += 2;
    } else {
      return error(fmt::format("ERR Syntax error in HELLO option '{}'", words[at].substr(0, 64)));
    }
  }
  if (!admitted) {
    return error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the "
        "RESP protocol version at the same time");
  }
  if (name && !set_name(*name)) return error("ERR Client names cannot contain spaces");
  parser_.admit();
  version_ = version;
  return map(7, version_) + bulk("server") + bulk("redis") + bulk("version") + bulk(kRedisVersion) +
         bulk("proto") + number(static_cast<int>(version_)) + bulk("id") +
         number(static_cast<int64_t>(id_)) + bulk("mode") + bulk("standalone") + bulk("role") +
         bulk("master") + bulk("modules") + array(0);
}

// AUTH password | AUTH user password
std::string Session::authenticate(const Arguments& words) {
  if (words.size() != 2 && words.size() != 3) return error(wrong_count("auth"));
  if (words.size() == 2 && !settings_.credentials.required()) {
    return error(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  }
  if (!admits(words.size() == 3 ? words[1] : "default", words.back())) {
    return error("WRONGPASS invalid username-password pair or user is disabled.");
  }
  parser_.admit();
  return simple("OK");
}

// The token is the password of the user that Redis calls default; so is the password itself.
bool Session::admits(std::string_view user, std::string_view password) const {
  const Credentials& wanted = settings_.credentials;
  const bool by_default = user == "default";
  if (!wanted.required()) return by_default;
  const bool by_user = wanted.admits_user(user, password);
  const bool by_token = wanted.admits_token(password);
  const bool by_password = wanted.admits_user(wanted.user, password);
  return by_user || (by_default && (by_token || by_password));
}

bool Session::set_name(std::string_view name) {
  const bool plain = std::ranges::all_of(name, [](char byte) { return byte > ' ' && byte <= '~'; });
  if (!plain || name.size() > kNameBytesMax) return false;
  name_ = name;
  return true;
}

std::string Session::client(const Arguments& words) {
  const std::string what = lower(words[1]);
  if (what == "setname" && words.size() == 3) {
    if (set_name(words[2])) return simple("OK");
    return error("ERR Client names cannot contain spaces, newlines or special characters.");
  }
  if (what == "getname" && words.size() == 2) return name_.empty() ? null(version_) : bulk(name_);
  if (what == "id" && words.size() == 2) return number(static_cast<int64_t>(id_));
  if (what == "info" && words.size() == 2) {
    return bulk(fmt::format("id={} name={} resp={}\n", id_, name_, static_cast<int>(version_)));
  }
  if (what == "setinfo" && words.size() == 4) return simple("OK");
  if ((what == "no-evict" || what == "no-touch") && words.size() == 3) return simple("OK");
  return error(fmt::format("ERR unknown subcommand or wrong number of arguments for '{}'",
                           std::string_view(words[1]).substr(0, 64)));
}

// --- Requests and answers ------------------------------------------------------------------------

void Session::ask(Request request, size_t bytes) {
  request.client = id_;
  request.slot = first_slot_ + slots_.size();
  request.cost = bytes + limits::kOperationBytes;
  request.version = version_;
  request.backlog = backlog_;
  undone_ += request.cost;
  settings_.undone_of_all += request.cost;
  slots_.emplace_back();
  settings_.hand_over(std::move(request));
}

void Session::answer(std::string bytes) {
  slots_.emplace_back(std::move(bytes));
  send_ready();
}

void Session::take(Answer answer) {
  backlog_->end_transit(answer.transit);
  if (ended_) return;
  undone_ -= answer.cost;
  settings_.undone_of_all -= answer.cost;
  if (answer.slow) return fail_with({});
  check(answer.slot >= first_slot_ && answer.slot - first_slot_ < slots_.size(),
        "an answer has its slot");
  slots_[answer.slot - first_slot_] = std::move(answer.bytes);
  send_ready();
  resume_if_room();
}

void Session::send_ready() {
  while (!slots_.empty() && slots_.front()) {
    wire_.send(*slots_.front());
    slots_.pop_front();
    ++first_slot_;
  }
  backlog_->set_unsent(wire_.unsent());
  if (backlog_->too_slow()) return fail_with({});
  if (closing_ && slots_.empty()) fail_with({});
}

void Session::pause_if_full() {
  const bool full = settings_.undone_of_all > limits::kUndoneBytesOfAllMax;
  if (!paused_ && !ended_ &&
      (full || undone_ > limits::kUndoneBytesMax || slots_.size() > limits::kPipelineMax)) {
    paused_ = true;
    wire_.pause();
  }
  // One that pauses with half a command would hold its memory for ever if nothing else were undone.
  settings_.held_up |= full;
  if (paused_ && undone_ == 0 && slots_.empty()) {
    paused_ = false;
    wire_.resume();
  }
}

void Session::resume_if_room() {
  if (!paused_ || ended_ || undone_ > limits::kUndoneBytesMax / 2 ||
      slots_.size() > limits::kPipelineMax / 2) {
    return;
  }
  if (settings_.undone_of_all > limits::kUndoneBytesOfAllMax / 2 && undone_ > 0) return;
  paused_ = false;
  wire_.resume();
}

void Session::fail_with(std::string_view bytes) {
  if (std::exchange(ended_, true)) return;
  wire_.send(bytes);
  wire_.close();
}

}  // namespace fairlead::edge::resp
