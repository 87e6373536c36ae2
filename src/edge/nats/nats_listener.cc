#include "edge/nats/nats_listener.h"

#include "edge/nats/desk.h"
#include "edge/nats/session.h"
#include "edge/net/listener_core.h"

namespace fairlead::edge {

using nats::Session;
using Base = ListenerCore<Session, nats::SessionSettings, nats::Desk, nats::Command, nats::Reply>;

class NatsListener::Core final : public Base {
 public:
  Core(const Plugs& plugs, NatsOptions options)
      : Base(plugs.loop, plugs.clock), plugs_(plugs), options_(std::move(options)) {}

  Result<void> start() {
    if (auto safe = check_exposure(options_.address, options_.credentials); !safe) return safe;
    desk_.emplace(loop_, plugs_.bus, plugs_.log,
                  [this](std::vector<nats::Reply> replies) { to_sessions(std::move(replies)); });
    settings_.info = {.id = plugs_.random.token(),
                      .address = options_.address,
                      .port = options_.port,
                      .auth_required = options_.credentials.required(),
                      .tls_required = options_.tls != nullptr,
                      .tls_verify = options_.tls && options_.tls->wants_client_certificate()};
    settings_.credentials = options_.credentials;
    settings_.ping_every = options_.ping_every;
    settings_.authentication_wait = options_.authentication_wait;
    return listen({.name = "nats",
                   .address = options_.address,
                   .port = options_.port,
                   .connections_max = options_.connections_max,
                   .full_text = nats::error_line("Maximum Connections Exceeded"),
                   .tls = options_.tls,
                   .tls_first = false,
                   .tick_every = options_.tick_every},
                  [this](Wire& wire, const Peer& peer) {
                    settings_.info.port = port();
                    return std::make_unique<Session>(settings_, wire, peer);
                  });
  }

  size_t subscriptions() const { return desk_ ? desk_->subscriptions() : 0; }

 private:
  const Plugs plugs_;
  const NatsOptions options_;
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
void NatsListener::set_tls(std::shared_ptr<const TlsContext> tls) {
  core_->set_tls(std::move(tls));
}
Task<void> NatsListener::stop(Duration patience) {
  return core_->stop(patience);
}
size_t NatsListener::subscriptions() const {
  return core_->subscriptions();
}

}  // namespace fairlead::edge
