#include "edge/http/server.h"

#include <fmt/core.h>

#include <boost/asio/post.hpp>
#include <boost/json/serialize.hpp>

#include "edge/http/api/event_json.h"
#include "edge/http/connection.h"
#include "edge/http/server_core.h"

namespace fairlead::http {

namespace asio = boost::asio;
using asio::ip::tcp;

Server::Core::Core(Loop& given_loop, Backend& given_backend, ServerSettings given)
    : loop(given_loop),
      backend(given_backend),
      settings(given),
      hub(random.token().substr(0, 12)) {}

void Server::Core::start() {
  auto to_my_thread = [weak = weak_from_this()](std::vector<Bridge::Finished> finished) {
    auto self = weak.lock();
    if (!self) return;
    asio::post(self->context, [self, finished = std::move(finished)]() mutable {
      self->deliver(std::move(finished));
    });
  };
  bridge = std::make_shared<Bridge>(loop, backend, std::move(to_my_thread));
  asio::post(context, [this] { sweep(); });
  thread = Thread("http", [this] { context.run(); });
}

void Server::Core::join() {
  asio::post(context, [this] {
    close_all();
    guard.reset();
  });
  thread.join();
  bridge->close();
}

void Server::Core::close_all() {
  stopping = true;
  sweep_timer.cancel();
  boost::system::error_code ignored;
  for (Listener& listener : listeners) listener.acceptor.close(ignored);
  std::vector<Connection*> all(connections.begin(), connections.end());
  for (Connection* connection : all) connection->close();
}

Result<uint16_t> Server::Core::listen(ListenSettings wanted) {
  boost::system::error_code error;
  auto address = asio::ip::make_address(wanted.address, error);
  auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kInvalid,
                fmt::format("HTTP on {}:{}: {}", wanted.address, wanted.port, what));
  };
  if (error) return wrong("the address must be a number, as 127.0.0.1 or ::");
  if (wanted.keys->empty() && !address.is_loopback() && !wanted.public_without_keys) {
    return wrong("needs API keys: without them only 127.0.0.1 and ::1 are served");
  }
  std::shared_ptr<asio::ssl::context> tls;
  std::string fingerprint;
  if (wanted.tls) {
    TlsFiles files{wanted.tls->certificate, wanted.tls->key};
    fingerprint = tls_fingerprint(files);
    auto loaded = load_tls(files);
    if (!loaded) return wrong(loaded.error().message);
    tls = *std::move(loaded);
  }
  tcp::acceptor acceptor(context);
  tcp::endpoint endpoint(address, wanted.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return wrong(error.message());
  uint16_t port = acceptor.local_endpoint().port();
  Gatekeeper gatekeeper(wanted.access, wanted.keys);
  auto listener = std::make_shared<Listener>(Listener{std::move(wanted), std::move(gatekeeper),
                                                      std::move(acceptor), std::move(tls),
                                                      std::move(fingerprint)});
  asio::post(context, [this, listener] {
    listeners.push_back(std::move(*listener));
    accept(listeners.back());
  });
  return port;
}

void Server::Core::accept(Listener& listener) {
  listener.acceptor.async_accept(
      [this, &listener](boost::system::error_code error, tcp::socket socket) {
        if (stopping || error == asio::error::operation_aborted) return;
        if (!error) {
          boost::system::error_code ignored;
          socket.set_option(tcp::no_delay(true), ignored);
          auto connection = std::make_shared<Connection>(*this, listener, std::move(socket));
          connection->start(connections.size() >= settings.connections_max);
          accept(listener);
          return;
        }
        // Out of file descriptors or the like: what is there goes on, and the sweep tries again.
        auto retry = std::make_shared<asio::steady_timer>(context, std::chrono::milliseconds(100));
        retry->async_wait([this, &listener, retry](boost::system::error_code stopped) {
          if (!stopped && !stopping) accept(listener);
        });
      });
}

void Server::Core::sweep() {
  if (stopping) return;
  MonotonicTime now = clock.monotonic();
  std::vector<std::shared_ptr<Connection>> all;
  all.reserve(connections.size());
  for (Connection* connection : connections) all.push_back(connection->shared_from_this());
  for (const auto& connection : all) connection->sweep(now);

  if (now - tls_checked >= settings.timeouts.tls_reload) {
    tls_checked = now;
    for (Listener& listener : listeners) {
      if (!listener.settings.tls) continue;
      TlsFiles files{listener.settings.tls->certificate, listener.settings.tls->key};
      std::string print = tls_fingerprint(files);
      if (print.empty() || print == listener.tls_fingerprint) continue;
      // Half-written files do not load: the old certificate serves until they do.
      if (auto loaded = load_tls(files)) {
        listener.tls = *std::move(loaded);
        listener.tls_fingerprint = std::move(print);
      }
    }
  }
  sweep_timer.expires_after(settings.timeouts.sweep_every);
  sweep_timer.async_wait([this](boost::system::error_code error) {
    if (!error) sweep();
  });
}

void Server::Core::call(Connection& connection, Call call) {
  Bridge::CallId id = next_call++;
  connection.set_call(id);
  waiting.emplace(id, &connection);
  ++calls_out;
  bridge->send(id, std::move(call));
}

void Server::Core::deliver(std::vector<Bridge::Finished> finished) {
  for (Bridge::Finished& one : finished) {
    --calls_out;
    auto found = waiting.find(one.id);
    if (found == waiting.end()) continue;
    Connection* connection = found->second;
    waiting.erase(found);
    connection->answer(std::move(one.reply));
  }
}

Server::Server(Loop& loop, Backend& backend, ServerSettings settings)
    : loop_(loop), core_(std::make_shared<Core>(loop, backend, settings)) {
  core_->start();
}

Server::~Server() {
  core_->join();
}

Result<uint16_t> Server::listen(ListenSettings settings) {
  return core_->listen(std::move(settings));
}

void Server::set_keys(std::shared_ptr<const ApiKeys> keys) {
  asio::post(core_->context, [core = core_, keys = std::move(keys)] {
    for (Listener& listener : core->listeners) {
      // An address beyond this machine is not opened to everybody by an empty list.
      boost::system::error_code ignored;
      auto endpoint = listener.acceptor.local_endpoint(ignored);
      if (keys->empty() && !endpoint.address().is_loopback()) continue;
      listener.gatekeeper.set_keys(keys);
    }
  });
}

namespace {

std::optional<StreamEvent> stream_event(const TappedEvent& tapped) {
  if (!tapped.is_packet) {
    return StreamEvent{kStatusChanged, tapped.record.id.str(), tapped.record.tenant,
                       json::serialize(status_event(tapped.record)),
                       tapped.record.revision.value()};
  }
  auto packet = packet_event(tapped.bytes);
  if (!packet) return std::nullopt;
  TenantId tenant = packet->tenant.empty() ? tapped.tenant : TenantId(packet->tenant);
  return StreamEvent{std::move(packet->name), std::move(packet->job), std::move(tenant),
                     std::move(packet->data), 0};
}

}  // namespace

void Server::publish(std::vector<TappedEvent> events) {
  asio::post(core_->context, [core = core_, events = std::move(events)] {
    for (const TappedEvent& tapped : events) {
      if (auto event = stream_event(tapped)) core->hub.publish(*std::move(event));
    }
  });
}

size_t Server::stream_readers() const {
  return core_->stream_readers;
}

Task<void> Server::stop(Duration patience) {
  auto shut = std::make_shared<std::atomic<bool>>(false);
  asio::post(core_->context, [core = core_, shut] {
    boost::system::error_code ignored;
    for (Listener& listener : core->listeners) listener.acceptor.close(ignored);
    core->draining = true;
    *shut = true;
  });
  MonotonicTime until = loop_.now() + patience;
  while ((!*shut || core_->calls_out > 0 || core_->answering > 0) && loop_.now() < until) {
    if (!co_await loop_.delay(limits::kLeasePollEvery)) break;
  }
}

}  // namespace fairlead::http
