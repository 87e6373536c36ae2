#include "edge/nats/nats_listener.h"

#include <optional>
#include <unordered_map>

#include "edge/nats/desk.h"
#include "edge/nats/session.h"
#include "edge/net/server.h"

namespace fairlead::edge {

using nats::Command;
using nats::Desk;
using nats::Reply;
using nats::Session;

// Shared by both threads, so that work under way between them finds it gone rather than dead.
class NatsListener::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(const Plugs& plugs, NatsOptions options) : plugs_(plugs), options_(std::move(options)) {}

  Result<void> start() {
    if (auto safe = check_exposure(options_.address, options_.credentials); !safe) return safe;
    desk_.emplace(plugs_.loop, plugs_.bus, plugs_.log,
                  [this](std::vector<Reply> replies) { to_sessions(std::move(replies)); });
    settings_.info = {.id = plugs_.random.token(),
                      .address = options_.address,
                      .port = options_.port,
                      .auth_required = options_.credentials.required(),
                      .tls_required = options_.tls != nullptr,
                      .tls_verify = options_.tls && options_.tls->wants_client_certificate()};
    settings_.credentials = options_.credentials;
    settings_.ping_every = options_.ping_every;
    settings_.authentication_wait = options_.authentication_wait;
    settings_.hand_over = [this](Command command) { to_desk(std::move(command)); };
    settings_.gone = [this](uint64_t client) { sessions_.erase(client); };
    settings_.backlog_of_all = std::make_shared<std::atomic<size_t>>(0);
    server_.emplace(ServerOptions{.name = "nats",
                                  .address = options_.address,
                                  .port = options_.port,
                                  .connections_max = options_.connections_max,
                                  .full_text = nats::error_line("Maximum Connections Exceeded"),
                                  .tls = options_.tls,
                                  .tls_first = false,
                                  .tick_every = options_.tick_every},
                    plugs_.clock, [this](Wire& wire, const Peer& peer) {
                      settings_.info.port = server_->port();
                      auto session = std::make_unique<Session>(settings_, wire, peer);
                      sessions_.emplace(peer.id, session.get());
                      return session;
                    });
    return server_->start();
  }

  // The loop's thread. After it nothing of the listener runs on any thread.
  void end() {
    if (server_) server_->cut();
    desk_.reset();
  }

  Task<void> stop(Duration patience) {
    in_transit_ += 1;
    server_->shut_doors([this] { in_transit_ -= 1; });
    MonotonicTime until = plugs_.clock.monotonic() + patience;
    while (in_hand() && plugs_.clock.monotonic() < until) {
      if (!co_await plugs_.loop.delay(limits::kLeasePollEvery)) break;
    }
    desk_->flush();
    server_->stop();
  }

  uint16_t port() const { return server_->port(); }
  size_t subscriptions() const { return desk_ ? desk_->subscriptions() : 0; }

 private:
  // The listener's thread: gathers what the sessions want until their turn is over.
  void to_desk(Command command) {
    commands_.push_back(std::move(command));
    if (commands_.size() > 1) return;
    server_->post([this] {
      in_transit_ += 1;
      plugs_.loop.post([core = weak_from_this(), batch = std::exchange(commands_, {})]() mutable {
        auto self = core.lock();
        if (!self) return;
        self->in_transit_ -= 1;
        if (self->desk_) self->desk_->obey(std::move(batch));
      });
    });
  }

  // The loop's thread.
  void to_sessions(std::vector<Reply> replies) {
    server_->post([this, batch = std::move(replies)]() mutable {
      for (Reply& reply : batch) {
        auto found = sessions_.find(reply.client);
        if (found != sessions_.end()) found->second->take(std::move(reply));
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

  bool in_hand() const { return in_transit_ > 0 || desk_->publishing() > 0; }

  const Plugs plugs_;
  const NatsOptions options_;

  // The listener's thread.
  nats::SessionSettings settings_;
  std::unordered_map<uint64_t, Session*> sessions_;
  std::vector<Command> commands_;

  std::atomic<size_t> in_transit_ = 0;  // batches posted to the loop and not yet run
  // The loop's thread.
  std::optional<Desk> desk_;
  // Last: its thread ends before what it uses.
  std::optional<Server> server_;
};

NatsListener::NatsListener(const Plugs& plugs, NatsOptions options)
    : core_(std::make_shared<Core>(plugs, std::move(options))) {}
NatsListener::~NatsListener() {
  core_->end();
}
Result<void> NatsListener::start() {
  return core_->start();
}
uint16_t NatsListener::port() const {
  return core_->port();
}
Task<void> NatsListener::stop(Duration patience) {
  return core_->stop(patience);
}
size_t NatsListener::subscriptions() const {
  return core_->subscriptions();
}

}  // namespace fairlead::edge
