#include "edge/resp/resp_listener.h"

#include "edge/net/listener_core.h"
#include "edge/resp/session.h"
#include "edge/resp/shelf.h"

namespace fairlead::edge {

using resp::Session;
using Base = ListenerCore<Session, resp::SessionSettings, resp::Shelf, resp::Request, resp::Answer>;

class RespListener::Core final : public Base {
 public:
  Core(const Plugs& plugs, RespOptions options)
      : Base(plugs.loop, plugs.clock), store_(plugs.store), options_(std::move(options)) {}

  Result<void> start() {
    if (auto safe = check_exposure(options_.address, options_.credentials); !safe) return safe;
    desk_.emplace(loop_, clock_, store_, options_.kept,
                  [this](std::vector<resp::Answer> answers) { to_sessions(std::move(answers)); });
    settings_.credentials = options_.credentials;
    settings_.authentication_wait = options_.authentication_wait;
    return listen({.name = "resp",
                   .address = options_.address,
                   .port = options_.port,
                   .connections_max = options_.connections_max,
                   .full_text = resp::error("ERR max number of clients reached"),
                   .tls = options_.tls,
                   .tls_first = true,
                   .tick_every = options_.tick_every},
                  [this](Wire& wire, const Peer& peer) {
                    return std::make_unique<Session>(settings_, wire, peer.id);
                  });
  }

 private:
  store::Store& store_;
  const RespOptions options_;
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
void RespListener::set_tls(std::shared_ptr<const TlsContext> tls) {
  core_->set_tls(std::move(tls));
}
Task<void> RespListener::stop(Duration patience) {
  return core_->stop(patience);
}

}  // namespace fairlead::edge
