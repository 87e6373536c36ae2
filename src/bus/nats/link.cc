#include "bus/nats/link.h"

#include <map>
#include <mutex>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/limits.h"
#include "bus/nats/client.h"
#include "bus/nats/inbox.h"
#include "runtime/thread.h"

namespace fairlead::bus::nats {

namespace {

// What libnats keeps of ours for a subscription or a connection, until it says that it has done.
struct Tap {
  std::shared_ptr<Inbox> inbox;
  uint64_t listener = 0;
  Link::Care care = Link::Care::kKeepAll;
};

void forget_tap(void* closure) {
  delete static_cast<Tap*>(closure);
}

// The last that libnats says of a subscription.
void take_end(void* closure) {
  const Tap& tap = *static_cast<Tap*>(closure);
  tap.inbox->put(Ended{tap.listener});
  forget_tap(closure);
}

void take_message(natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
  Tap& tap = *static_cast<Tap*>(closure);
  Arrival arrival;
  arrival.listener = tap.listener;
  arrival.subject = natsMsg_GetSubject(message);
  if (const char* reply = natsMsg_GetReply(message)) arrival.reply = reply;
  arrival.payload.assign(natsMsg_GetData(message),
                         static_cast<size_t>(natsMsg_GetDataLength(message)));
  arrival.no_responders = natsMsg_IsNoResponders(message);
  arrival.headers = header_block(message);
  natsMsg_Destroy(message);
  tap.inbox->put_arrival(std::move(arrival), tap.care);
}

void take_complaint(natsConnection* connection, natsSubscription*, natsStatus status,
                    void* closure) {
  const char* text = nullptr;
  natsConnection_GetLastError(connection, &text);
  std::string what = text && *text ? text : natsStatus_GetText(status);
  static_cast<Tap*>(closure)->inbox->put(Complaint{std::move(what)});
}

// The last that libnats says of a connection.
void take_closed(natsConnection*, void* closure) {
  forget_tap(closure);
}

}  // namespace

// The thread that owns the connection: it makes it, serves its socket, and makes the next.
class Link::Line {
 public:
  Line(std::shared_ptr<Inbox> inbox, Settings settings, const Loop& loop)
      : inbox_(std::move(inbox)), settings_(std::move(settings)), loop_(loop) {
    wake_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    check(wake_ >= 0, "there is a descriptor for an eventfd");
  }
  ~Line() {
    {
      std::lock_guard lock(socket_mutex_);
      stopping_ = true;
    }
    wake();
    thread_.join();
    ::close(wake_);
  }

  void open() {
    thread_ = Thread("nats", [this] { run(); });
  }

  Sending send(const Outgoing& message);
  uint64_t listen(std::string subject, std::string queue, Care care);
  void ignore(uint64_t listener);
  // It has ended.
  void forget(uint64_t listener);

 private:
  struct Listener {
    std::string subject;
    std::string queue;
    Care care;
    natsSubscription* subscription = nullptr;  // on the connection of now
  };
  struct Socket {
    int descriptor = -1;
    bool open = false;  // libnats wants to read it
    bool writable_wanted = false;
  };

  void run();
  void connect_to_any();
  std::string connect(const std::string& server);
  void announce();
  void serve();
  std::string part();
  void pause();
  void subscribe(uint64_t number, Listener& listener);
  bool stopping();
  void wake();
  void clear_wake();

  static natsStatus attach(void** line, void* loop, natsConnection*, natsSock descriptor);
  static natsStatus want_reading(void* line, bool wanted);
  static natsStatus want_writing(void* line, bool wanted);
  static natsStatus detach(void* line);

  std::shared_ptr<Inbox> inbox_;
  const Settings settings_;
  const Loop& loop_;
  int wake_ = -1;

  // Guards the connection in use and who listens. libnats may call want_writing meanwhile, so
  // socket_mutex_ is taken last.
  std::mutex mutex_;
  natsConnection* connection_ = nullptr;  // nullptr: none to send on
  std::map<uint64_t, Listener> listeners_;
  std::map<uint64_t, natsSubscription*> leaving_;  // until nothing comes any more
  uint64_t last_listener_ = 0;

  std::mutex socket_mutex_;
  Socket socket_;
  bool stopping_ = false;

  // The thread's own.
  natsConnection* made_ = nullptr;
  std::string why_not_;            // there is no connection
  std::vector<std::string> told_;  // servers that the last one knew of
  size_t next_server_ = 0;
  Thread thread_;
};

Sending Link::Line::send(const Outgoing& message) {
  std::lock_guard lock(mutex_);
  if (!connection_) return Sending::kNotConnected;
  const std::string subject(message.subject);
  const std::string reply(message.reply);
  natsMsg* made = nullptr;
  natsStatus status =
      natsMsg_Create(&made, subject.c_str(), reply.empty() ? nullptr : reply.c_str(),
                     message.payload.data(), static_cast<int>(message.payload.size()));
  if (status == NATS_OK && !message.message_id.empty()) {
    status = natsMsgHeader_Set(made, "Nats-Msg-Id", std::string(message.message_id).c_str());
  }
  if (status == NATS_OK) status = natsConnection_PublishMsg(connection_, made);
  natsMsg_Destroy(made);
  if (status == NATS_OK) return Sending::kSent;
  return status == NATS_MAX_PAYLOAD ? Sending::kTooLarge : Sending::kNotConnected;
}

uint64_t Link::Line::listen(std::string subject, std::string queue, Care care) {
  std::lock_guard lock(mutex_);
  const uint64_t number = ++last_listener_;
  Listener& listener = listeners_[number] = {std::move(subject), std::move(queue), care};
  if (connection_) subscribe(number, listener);
  return number;
}

void Link::Line::ignore(uint64_t number) {
  std::lock_guard lock(mutex_);
  auto found = listeners_.find(number);
  if (found == listeners_.end()) return;
  if (natsSubscription* subscription = found->second.subscription) {
    natsSubscription_Drain(subscription);
    leaving_[number] = subscription;
  } else {
    inbox_->put(Ended{number});
  }
  listeners_.erase(found);
}

void Link::Line::forget(uint64_t number) {
  natsSubscription* subscription = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (auto left = leaving_.extract(number)) subscription = left.mapped();
  }
  natsSubscription_Destroy(subscription);
}

// REQUIRES: mutex_ is held and there is a connection.
void Link::Line::subscribe(uint64_t number, Listener& listener) {
  auto tap = std::make_unique<Tap>(inbox_, number, listener.care);
  natsStatus status = NATS_OK;
  if (listener.queue.empty()) {
    status = natsConnection_Subscribe(&listener.subscription, made_, listener.subject.c_str(),
                                      take_message, tap.get());
  } else {
    status = natsConnection_QueueSubscribe(&listener.subscription, made_, listener.subject.c_str(),
                                           listener.queue.c_str(), take_message, tap.get());
  }
  if (status != NATS_OK) {
    // Only a connection that broke refuses it; the next one is asked again.
    listener.subscription = nullptr;
    return;
  }
  natsSubscription_SetPendingLimits(listener.subscription, -1, -1);
  natsSubscription_SetOnCompleteCB(listener.subscription, take_end, tap.release());
}

void Link::Line::run() {
  while (!stopping()) {
    connect_to_any();
    std::string why = why_not_;
    if (made_) {
      announce();
      serve();
      why = part();
    }
    inbox_->put(Lost{std::move(why)});
    pause();
  }
}

// Tries every server once, beginning with the one after the last.
void Link::Line::connect_to_any() {
  std::vector<std::string> servers = settings_.servers;
  servers.insert(servers.end(), told_.begin(), told_.end());
  std::string all;
  for (size_t tries = 0; tries < servers.size() && !stopping(); ++tries) {
    const std::string& server = servers[next_server_++ % servers.size()];
    const std::string why = connect(server);
    if (made_) return;
    all += (all.empty() ? "" : "; ") + server + ": " + why;
  }
  why_not_ = std::move(all);
}

// Why it failed, unless it succeeded.
std::string Link::Line::connect(const std::string& server) {
  Result<Options> options = connection_options(settings_, server);
  if (!options) return options.error().message;
  auto tap = std::make_unique<Tap>(inbox_);
  natsOptions* chosen = options->get();
  natsOptions_SetEventLoop(chosen, this, attach, want_reading, want_writing, detach);
  natsOptions_SetErrorHandler(chosen, take_complaint, tap.get());
  natsOptions_SetClosedCB(chosen, take_closed, tap.get());
  natsStatus status = natsConnection_Connect(&made_, chosen);
  if (status == NATS_OK) {
    tap.release();
    return {};
  }
  made_ = nullptr;
  return last_error(status);
}

void Link::Line::announce() {
  char url[256] = {};
  natsConnection_GetConnectedUrl(made_, url, sizeof(url));
  {
    std::lock_guard lock(mutex_);
    connection_ = made_;
    for (auto& [number, listener] : listeners_) subscribe(number, listener);
  }
  inbox_->put(Connected{url});
}

// Moves bytes until the connection breaks. One that is to end is closed for writing when everything
// is written, and read until the server closes it too: to close it with something unread would make
// the server drop what it has not read.
void Link::Line::serve() {
  std::optional<MonotonicTime> end;
  bool half_closed = false;
  while (true) {
    Socket socket;
    {
      std::lock_guard lock(socket_mutex_);
      socket = socket_;
      if (stopping_ && !end) end = loop_.now() + limits::kNatsFlushWait;
    }
    if (!socket.open) return;
    if (end && loop_.now() >= *end) return;
    if (end && !half_closed && natsConnection_Buffered(made_) <= 0) {
      ::shutdown(socket.descriptor, SHUT_WR);
      half_closed = true;
    }
    const short wanted = static_cast<short>(POLLIN | (socket.writable_wanted ? POLLOUT : 0));
    pollfd polled[] = {{wake_, POLLIN, 0}, {socket.descriptor, wanted, 0}};
    ::poll(polled, 2, end ? 10 : -1);
    if (polled[0].revents != 0) clear_wake();
    if (polled[1].revents & (POLLIN | POLLHUP | POLLERR)) natsConnection_ProcessReadEvent(made_);
    if (polled[1].revents & POLLOUT) natsConnection_ProcessWriteEvent(made_);
  }
}

// Ends the connection; why it ended.
std::string Link::Line::part() {
  std::vector<natsSubscription*> subscriptions;
  {
    std::lock_guard lock(mutex_);
    connection_ = nullptr;
    for (auto& [number, listener] : listeners_) {
      subscriptions.push_back(std::exchange(listener.subscription, nullptr));
    }
    for (const auto& [number, subscription] : leaving_) subscriptions.push_back(subscription);
    leaving_.clear();
  }
  const char* text = nullptr;
  const natsStatus status = natsConnection_GetLastError(made_, &text);
  std::string why = status == NATS_OK || !text || !*text ? "the connection was closed" : text;

  char** servers = nullptr;
  int count = 0;
  if (natsConnection_GetDiscoveredServers(made_, &servers, &count) == NATS_OK) {
    told_.assign(servers, servers + count);
    for (int i = 0; i < count; ++i) std::free(servers[i]);
    std::free(servers);
  }
  // The subscriptions end with the connection; nothing has to be told to the server.
  natsConnection_Close(made_);
  for (natsSubscription* subscription : subscriptions) natsSubscription_Destroy(subscription);
  natsConnection_Destroy(std::exchange(made_, nullptr));
  return why;
}

void Link::Line::pause() {
  const MonotonicTime end = loop_.now() + limits::kNatsReconnectWait;
  while (!stopping()) {
    const Duration left = end - loop_.now();
    if (left <= Duration(0)) return;
    pollfd polled{wake_, POLLIN, 0};
    ::poll(&polled, 1, static_cast<int>(left / std::chrono::milliseconds(1)) + 1);
    clear_wake();
  }
}

bool Link::Line::stopping() {
  std::lock_guard lock(socket_mutex_);
  return stopping_;
}

void Link::Line::wake() {
  const uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof(one));
}

void Link::Line::clear_wake() {
  uint64_t count = 0;
  (void)!::read(wake_, &count, sizeof(count));
}

// --- What libnats calls --------------------------------------------------------------------------

natsStatus Link::Line::attach(void** line, void* loop, natsConnection*, natsSock descriptor) {
  auto* self = static_cast<Line*>(loop);
  *line = self;
  std::lock_guard lock(self->socket_mutex_);
  self->socket_ = {descriptor, true, false};
  return NATS_OK;
}

natsStatus Link::Line::want_reading(void* line, bool wanted) {
  auto* self = static_cast<Line*>(line);
  {
    std::lock_guard lock(self->socket_mutex_);
    self->socket_.open = wanted;
  }
  self->wake();
  return NATS_OK;
}

natsStatus Link::Line::want_writing(void* line, bool wanted) {
  auto* self = static_cast<Line*>(line);
  {
    std::lock_guard lock(self->socket_mutex_);
    self->socket_.writable_wanted = wanted;
  }
  if (wanted) self->wake();
  return NATS_OK;
}

natsStatus Link::Line::detach(void* line) {
  return want_reading(line, false);
}

// --- The link ------------------------------------------------------------------------------------

namespace {

template <class... Each>
struct Overloaded : Each... {
  using Each::operator()...;
};

}  // namespace

Link::Link(Loop& loop, Settings settings, Callbacks callbacks)
    : inbox_(std::make_shared<Inbox>(
          loop,
          [this, told = std::move(callbacks)](Event event) {
            std::visit(Overloaded{[&](Arrival arrival) { told.arrived(std::move(arrival)); },
                                  [&](Connected now) {
                                    connected_ = true;
                                    server_url_ = std::move(now.server_url);
                                    told.connected();
                                  },
                                  [&](Lost lost) {
                                    connected_ = false;
                                    told.lost(lost.why);
                                  },
                                  [&](Complaint complaint) { told.complained(complaint.what); },
                                  [&](Ended ended) {
                                    line_->forget(ended.listener);
                                    told.ended(ended.listener);
                                  }},
                       std::move(event));
          })),
      line_(std::make_unique<Line>(inbox_, std::move(settings), loop)) {}

Link::~Link() {
  inbox_->close();
}

void Link::open() {
  line_->open();
}
Sending Link::send(const Outgoing& message) {
  return connected_ ? line_->send(message) : Sending::kNotConnected;
}
uint64_t Link::listen(std::string subject, std::string queue, Care care) {
  return line_->listen(std::move(subject), std::move(queue), care);
}
void Link::ignore(uint64_t listener) {
  line_->ignore(listener);
}
uint64_t Link::dropped() const {
  return inbox_->dropped();
}

}  // namespace fairlead::bus::nats
