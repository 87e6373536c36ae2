// What the server keeps on its own thread: listeners, connections, calls that are out.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "edge/http/answer_bytes.h"
#include "edge/http/bridge.h"
#include "edge/http/rate_limit.h"
#include "edge/http/server.h"
#include "runtime/clock.h"
#include "runtime/random.h"
#include "runtime/thread.h"

namespace fairlead::http {

class Connection;

struct Listener {
  ListenSettings settings;
  Gatekeeper gatekeeper;
  boost::asio::ip::tcp::acceptor acceptor;
  std::shared_ptr<boost::asio::ssl::context> tls;
  size_t connections = 0;
};

class ServerCore : public std::enable_shared_from_this<ServerCore> {
 public:
  ServerCore(Loop& loop, Backend& backend, ServerSettings given);

  // Loop thread. After open() somebody has to run the context; start() gives it a thread.
  void open();
  void start();
  void join();
  Result<uint16_t> listen(ListenSettings settings);
  void publish(std::vector<TappedEvent> events);

  // The server's thread.
  void accept(Listener& listener);
  void serve(Listener& listener, boost::asio::ip::tcp::socket socket, Peer peer);
  void sweep();
  void add(Connection& connection, Listener& listener);
  void remove(Connection& connection, Listener& listener);
  // Hands a call over; its answer goes to the connection, if that still waits for it.
  void call(Connection& connection, Call call);
  void forget_call(Bridge::CallId id) { waiting.erase(id); }
  void deliver(std::vector<Bridge::Finished> finished);
  void close_all();
  // What a caller is not told. When there are many, only how many more there were.
  void log_problem(const Request& request, const std::string& request_id, const Reply& reply);
  std::string new_request_id() { return random.token().substr(0, 16); }

  Loop& loop;
  Backend& backend;
  const ServerSettings settings;
  SystemClock clock;
  SystemRandom random;
  ReadTools tools{random, clock};
  AnswerBytes answer_bytes{settings.answer_bytes_max};
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard{
      context.get_executor()};
  boost::asio::steady_timer sweep_timer{context};
  std::list<Listener> listeners;
  std::unordered_set<Connection*> connections;
  std::unordered_map<Bridge::CallId, Connection*> waiting;
  Bridge::CallId next_call = 1;
  EventHub hub;
  std::shared_ptr<Bridge> bridge;
  bool stopping = false;
  // New requests are refused, and connections end with their answer.
  bool draining = false;
  std::atomic<size_t> stream_readers = 0;
  std::atomic<size_t> calls_out = 0;
  // Requests that were read and whose answers are not yet sent.
  std::atomic<size_t> answering = 0;
  std::atomic<size_t> events_in_transit_bytes = 0;
  bool events_lost = false;  // the loop's
  RateLimiter problems_logged{
      Rate{limits::kHttpProblemsLoggedPerSecond, limits::kHttpProblemsLogged}};
  size_t problems_not_logged = 0;
  Thread thread;
};

}  // namespace fairlead::http
