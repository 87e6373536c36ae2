#include "edge/resp/resp_listener.h"

#include <optional>
#include <unordered_map>

#include "edge/net/server.h"
#include "edge/resp/session.h"
#include "edge/resp/shelf.h"

namespace fairlead::edge {

using resp::Answer;
using resp::Request;
using resp::Session;
using resp::Shelf;

// Shared by both threads, so that work under way between them finds it gone rather than dead.
class RespListener::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(const Plugs& plugs, RespOptions options) : plugs_(plugs), options_(std::move(options)) {}

  Result<void> start() {
    if (auto safe = check_exposure(options_.address, options_.credentials); !safe) return safe;
    shelf_.emplace(plugs_.loop, plugs_.clock, plugs_.store,
                   [this](std::vector<Answer> answers) { to_sessions(std::move(answers)); });
    settings_.credentials = options_.credentials;
    settings_.authentication_wait = options_.authentication_wait;
    settings_.hand_over = [this](Request request) { to_shelf(std::move(request)); };
    settings_.gone = [this](uint64_t client) { sessions_.erase(client); };
    settings_.backlog_of_all = std::make_shared<std::atomic<size_t>>(0);
    server_.emplace(ServerOptions{.name = "resp",
                                  .address = options_.address,
                                  .port = options_.port,
                                  .connections_max = options_.connections_max,
                                  .full_text = resp::error("ERR max number of clients reached"),
                                  .tls = options_.tls,
                                  .tls_first = true,
                                  .tick_every = options_.tick_every},
                    plugs_.clock, [this](Wire& wire, const Peer& peer) {
                      auto session = std::make_unique<Session>(settings_, wire, peer.id);
                      sessions_.emplace(peer.id, session.get());
                      return session;
                    });
    return server_->start();
  }

  // The loop's thread. After it nothing of the listener runs on any thread.
  void end() {
    if (server_) server_->cut();
    shelf_.reset();
  }

  Task<void> stop(Duration patience) {
    in_transit_ += 1;
    server_->shut_doors([this] { in_transit_ -= 1; });
    MonotonicTime until = plugs_.clock.monotonic() + patience;
    while ((in_transit_ > 0 || shelf_->in_hand() > 0) && plugs_.clock.monotonic() < until) {
      if (!co_await plugs_.loop.delay(limits::kLeasePollEvery)) break;
    }
    shelf_->flush();
    server_->stop();
  }

  uint16_t port() const { return server_->port(); }

 private:
  // The listener's thread: gathers what the sessions want until their turn is over.
  void to_shelf(Request request) {
    requests_.push_back(std::move(request));
    if (requests_.size() > 1) return;
    server_->post([this] {
      in_transit_ += 1;
      plugs_.loop.post([core = weak_from_this(), batch = std::exchange(requests_, {})]() mutable {
        auto self = core.lock();
        if (!self) return;
        self->in_transit_ -= 1;
        if (self->shelf_) self->shelf_->obey(std::move(batch));
      });
    });
  }

  // The loop's thread.
  void to_sessions(std::vector<Answer> answers) {
    server_->post([this, batch = std::move(answers)]() mutable {
      for (Answer& answer : batch) {
        auto found = sessions_.find(answer.client);
        if (found != sessions_.end()) found->second->take(std::move(answer));
      }
      resume_held_up();
    });
  }

  // Sessions that wait only because all together had handed over too much.
  void resume_held_up() {
    if (!settings_.held_up || settings_.undone_of_all > limits::kUndoneBytesOfAllMax / 2) return;
    settings_.held_up = false;
    for (auto& [client, session] : sessions_) session->resume_if_room();
  }

  const Plugs plugs_;
  const RespOptions options_;

  // The listener's thread.
  resp::SessionSettings settings_;
  std::unordered_map<uint64_t, Session*> sessions_;
  std::vector<Request> requests_;

  std::atomic<size_t> in_transit_ = 0;  // batches posted to the loop and not yet run
  // The loop's thread.
  std::optional<Shelf> shelf_;
  // Last: its thread ends before what it uses.
  std::optional<Server> server_;
};

RespListener::RespListener(const Plugs& plugs, RespOptions options)
    : core_(std::make_shared<Core>(plugs, std::move(options))) {}
RespListener::~RespListener() {
  core_->end();
}
Result<void> RespListener::start() {
  return core_->start();
}
uint16_t RespListener::port() const {
  return core_->port();
}
Task<void> RespListener::stop(Duration patience) {
  return core_->stop(patience);
}

}  // namespace fairlead::edge
