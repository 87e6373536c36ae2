// A listener between its two threads: sessions on the listener's, their desk on the loop's. What
// sessions want is gathered and handed to the desk once a turn; what it says comes back likewise.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "edge/net/server.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "runtime/task.h"

namespace fairlead::edge {

// Settings are a CommonSessionSettings<Request>. A Desk obeys batches of requests, tells how many
// it has in_hand(), and is made by the derived class, which is shared by both threads, so that work
// under way between them finds it gone rather than dead.
template <class Session, class Settings, class Desk, class Request, class Answer>
class ListenerCore
    : public std::enable_shared_from_this<ListenerCore<Session, Settings, Desk, Request, Answer>> {
 public:
  ListenerCore(Loop& loop, const Clock& clock) : loop_(loop), clock_(clock) {
    settings_.hand_over = [this](Request request) { to_desk(std::move(request)); };
    settings_.gone = [this](uint64_t client) { sessions_.erase(client); };
    settings_.backlog_of_all = std::make_shared<std::atomic<size_t>>(0);
  }
  ListenerCore(const ListenerCore&) = delete;
  ListenerCore& operator=(const ListenerCore&) = delete;

  // The loop's thread. After it nothing of the listener runs on any thread.
  void end() {
    if (server_) server_->cut();
    desk_.reset();
  }

  Task<void> stop(Duration patience) {
    in_transit_ += 1;
    server_->shut_doors([this] { in_transit_ -= 1; });
    MonotonicTime until = clock_.monotonic() + patience;
    while ((in_transit_ > 0 || desk_->in_hand() > 0) && clock_.monotonic() < until) {
      if (!co_await loop_.delay(limits::kLeasePollEvery)) break;
    }
    desk_->flush();
    server_->stop();
  }

  uint16_t port() const { return server_->port(); }
  void set_tls(std::shared_ptr<const TlsContext> tls) { server_->set_tls(std::move(tls)); }

 protected:
  ~ListenerCore() = default;

  // The loop's thread: what the desk says.
  void to_sessions(std::vector<Answer> answers) {
    server_->post([this, batch = std::move(answers)]() mutable {
      for (Answer& answer : batch) {
        auto found = sessions_.find(answer.client);
        if (found != sessions_.end()) found->second->take(std::move(answer));
      }
      resume_held_up();
    });
  }
  // `make` makes the session of a connection, on the listener's thread.
  template <class Make>
  Result<void> listen(ServerOptions options, Make make) {
    server_.emplace(std::move(options), clock_, [this, make](Wire& wire, const Peer& peer) {
      std::unique_ptr<Session> session = make(wire, peer);
      sessions_.emplace(peer.id, session.get());
      return session;
    });
    return server_->start();
  }

  Loop& loop_;
  const Clock& clock_;
  // The listener's thread, once it listens.
  Settings settings_;
  // The loop's thread.
  std::optional<Desk> desk_;

 private:
  // The listener's thread: gathers what the sessions want until their turn is over.
  void to_desk(Request request) {
    requests_.push_back(std::move(request));
    if (requests_.size() > 1) return;
    server_->post([this] {
      in_transit_ += 1;
      loop_.post([core = this->weak_from_this(), batch = std::exchange(requests_, {})]() mutable {
        auto self = core.lock();
        if (!self) return;
        self->in_transit_ -= 1;
        if (self->desk_) self->desk_->obey(std::move(batch));
      });
    });
  }

  // Sessions that wait only because all together had handed over too much.
  void resume_held_up() {
    if (!settings_.held_up || settings_.undone_of_all > limits::kUndoneBytesOfAllMax / 2) return;
    settings_.held_up = false;
    for (auto& [client, session] : sessions_) session->resume_if_room();
  }

  std::unordered_map<uint64_t, Session*> sessions_;
  std::vector<Request> requests_;
  std::atomic<size_t> in_transit_ = 0;  // batches posted to the loop and not yet run
  // Last: its thread ends before what it uses.
  std::optional<Server> server_;
};

}  // namespace fairlead::edge
