#include "edge/http/server.h"

#include <fmt/core.h>

#include <boost/asio/post.hpp>

#include "base/text.h"
#include "edge/http/connection.h"
#include "edge/http/server_core.h"

namespace fairlead::http {

namespace asio = boost::asio;
using asio::ip::tcp;

static constexpr size_t kLoggedBytesMax = 512;

// The same certificate, as Asio's streams take it.
static std::shared_ptr<asio::ssl::context> for_streams(
    const std::shared_ptr<const edge::TlsContext>& tls) {
  if (!tls) return nullptr;
  SSL_CTX_up_ref(tls->native());
  return std::make_shared<asio::ssl::context>(tls->native());
}

ServerCore::ServerCore(Loop& given_loop, Backend& given_backend, ServerSettings given)
    : loop(given_loop),
      backend(given_backend),
      settings(given),
      hub(random.token().substr(0, 12)) {}

void ServerCore::open() {
  auto to_my_thread = [weak = weak_from_this()](std::vector<Bridge::Finished> finished) {
    auto self = weak.lock();
    if (!self) return;
    asio::post(self->context, [self, finished = std::move(finished)]() mutable {
      self->deliver(std::move(finished));
    });
  };
  bridge = std::make_shared<Bridge>(loop, backend, answer_bytes, std::move(to_my_thread));
  asio::post(context, [this] { sweep(); });
}

void ServerCore::start() {
  open();
  thread = Thread("http", [this] { context.run(); });
}

void ServerCore::join() {
  asio::post(context, [this] {
    close_all();
    guard.reset();
  });
  thread.join();
  bridge->close();
}

void ServerCore::close_all() {
  stopping = true;
  sweep_timer.cancel();
  boost::system::error_code ignored;
  for (Listener& listener : listeners) listener.acceptor.close(ignored);
  std::vector<Connection*> all(connections.begin(), connections.end());
  for (Connection* connection : all) connection->close();
}

Result<uint16_t> ServerCore::listen(ListenSettings wanted) {
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
  tcp::acceptor acceptor(context);
  tcp::endpoint endpoint(address, wanted.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return wrong(error.message());
  uint16_t port = acceptor.local_endpoint().port();
  Gatekeeper gatekeeper(wanted.access, wanted.keys);
  auto tls = for_streams(wanted.tls);
  auto listener = std::make_shared<Listener>(
      Listener{std::move(wanted), std::move(gatekeeper), std::move(acceptor), std::move(tls)});
  asio::post(context, [this, listener] {
    listeners.push_back(std::move(*listener));
    accept(listeners.back());
  });
  return port;
}

void ServerCore::accept(Listener& listener) {
  listener.acceptor.async_accept(
      [this, &listener](boost::system::error_code error, tcp::socket socket) {
        if (stopping || error == asio::error::operation_aborted) return;
        if (!error) {
          boost::system::error_code ignored;
          socket.set_option(tcp::no_delay(true), ignored);
          auto address = socket.remote_endpoint(ignored).address();
          serve(listener, std::move(socket), {address.to_string(), address.is_loopback()});
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

void ServerCore::serve(Listener& listener, tcp::socket socket, Peer peer) {
  auto connection =
      std::make_shared<Connection>(*this, listener, std::move(socket), std::move(peer));
  // Counted for each listener: callers of the API do not keep probes and metrics out.
  connection->start(listener.connections >= settings.connections_max);
}

void ServerCore::add(Connection& connection, Listener& listener) {
  connections.insert(&connection);
  ++listener.connections;
}

void ServerCore::remove(Connection& connection, Listener& listener) {
  connections.erase(&connection);
  --listener.connections;
}

void ServerCore::sweep() {
  if (stopping) return;
  MonotonicTime now = clock.monotonic();
  std::vector<std::shared_ptr<Connection>> all;
  all.reserve(connections.size());
  for (Connection* connection : connections) all.push_back(connection->shared_from_this());
  for (const auto& connection : all) connection->sweep(now);

  sweep_timer.expires_after(settings.timeouts.sweep_every);
  sweep_timer.async_wait([this](boost::system::error_code error) {
    if (!error) sweep();
  });
}

void ServerCore::call(Connection& connection, Call call) {
  Bridge::CallId id = next_call++;
  connection.set_call(id);
  waiting.emplace(id, &connection);
  ++calls_out;
  bridge->send(id, std::move(call));
}

void ServerCore::deliver(std::vector<Bridge::Finished> finished) {
  for (Bridge::Finished& one : finished) {
    --calls_out;
    auto found = waiting.find(one.id);
    if (found == waiting.end()) continue;
    Connection* connection = found->second;
    waiting.erase(found);
    connection->answer(std::move(one.reply));
  }
}

void ServerCore::log_problem(const Request& request, const std::string& request_id,
                             const Reply& reply) {
  if (problems_logged.take("", clock.monotonic()) > Duration(0)) {
    ++problems_not_logged;
    return;
  }
  const std::string path = well_formed(std::string(cut(request.path, kLoggedBytesMax)));
  const std::string detail = well_formed(std::string(cut(reply.detail, kLoggedBytesMax)));
  const std::string not_logged = std::to_string(std::exchange(problems_not_logged, 0));
  backend.log.error("request failed", {{"method", to_string(request.method)},
                                       {"path", path},
                                       {"request_id", request_id},
                                       {"status", std::to_string(reply.status)},
                                       {"error", detail},
                                       {"others_not_logged", not_logged}});
}

Server::Server(Loop& loop, Backend& backend, ServerSettings settings)
    : loop_(loop), core_(std::make_shared<ServerCore>(loop, backend, settings)) {
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

void Server::set_tls(uint16_t port, std::shared_ptr<const edge::TlsContext> tls) {
  asio::post(core_->context, [core = core_, port, tls = std::move(tls)] {
    for (Listener& listener : core->listeners) {
      boost::system::error_code ignored;
      if (listener.acceptor.local_endpoint(ignored).port() == port) listener.tls = for_streams(tls);
    }
  });
}

void ServerCore::publish(std::vector<TappedEvent> events) {
  if (events.empty()) return;
  size_t bytes = 0;
  for (const TappedEvent& event : events) bytes += bytes_of(event);
  if (events_in_transit_bytes + bytes > limits::kStreamTransitBytes) {
    events_lost = true;
    return;
  }
  if (std::exchange(events_lost, false)) {
    const uint64_t tapped = events.front().tapped;
    events.insert(events.begin(), {.kind = TappedEvent::Kind::kGap, .tapped = tapped});
  }
  events_in_transit_bytes += bytes;
  asio::post(context, [self = shared_from_this(), bytes, batch = std::move(events)]() mutable {
    self->events_in_transit_bytes -= bytes;
    for (TappedEvent& event : batch) self->hub.publish(std::move(event));
  });
}

void Server::publish(std::vector<TappedEvent> events) {
  core_->publish(std::move(events));
}

void Server::forget_events() {
  asio::post(core_->context, [core = core_] { core->hub.forget(); });
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
