#include "edge/nats/desk.h"

#include "base/limits.h"
#include "edge/nats/headers.h"
#include "edge/nats/wire_text.h"
#include "routing/placement.h"

namespace fairlead::edge::nats {

namespace {

Task<bus::Verdict> taken() {
  co_return bus::Verdict::ack();
}

}  // namespace

Desk::Desk(Loop& loop, bus::OpenBus& bus, Log& log, Outlet outlet, size_t subscriptions_max)
    : loop_(loop),
      bus_(bus),
      log_(log),
      outlet_(std::move(outlet)),
      subscriptions_max_(subscriptions_max),
      self_(std::make_shared<Desk*>(this)) {}

Desk::~Desk() = default;

void Desk::obey(std::vector<Command> commands) {
  obeying_ = true;
  for (Command& command : commands) {
    switch (command.kind) {
      case Command::Kind::kPublish:
        publishes_.spawn(publish(std::move(command)));
        continue;
      case Command::Kind::kSubscribe:
        put_behind({.kind = Reply::Kind::kDone, .client = command.client, .cost = command.cost});
        subscribe(std::move(command));
        continue;
      case Command::Kind::kUnsubscribe:
        put_behind({.kind = Reply::Kind::kDone, .client = command.client, .cost = command.cost});
        unsubscribe(command);
        continue;
      case Command::Kind::kPing:
        put_behind({.kind = Reply::Kind::kDone, .client = command.client, .cost = command.cost});
        put_behind({.kind = Reply::Kind::kPong, .client = command.client});
        continue;
      case Command::Kind::kWritten:
        written(command.client, command.written);
        continue;
      case Command::Kind::kGone:
        forget(command.client);
        continue;
    }
  }
  obeying_ = false;
  post_behind();
}

// --- Publishing ----------------------------------------------------------------------------------

Task<void> Desk::publish(Command command) {
  const std::string reply = command.message.extras ? command.message.extras->reply : std::string{};
  const bool durable = bus::is_durable(command.message.subject);
  if (durable && reply.empty()) {
    const std::string subject = command.message.subject;
    Result<bus::Published> published = co_await publish_unasked(std::move(command.message));
    if (!published || *published != bus::Published::kStored) {
      log_.warning("dropped a message that was not taken", {{"subject", subject}});
    }
  } else {
    bus::Sent sent = bus_.send(std::move(command.message));
    Result<bus::Published> published = co_await sent.published;
    if (!reply.empty()) {
      if (durable && !published) {
        answer(reply, failed_ack(400, published.error().message), {});
      } else if (durable && *published == bus::Published::kStored) {
        answer(reply, stored_ack(sent.sequence, sent.duplicate), {});
      } else if (durable && *published == bus::Published::kRefused) {
        answer(reply, failed_ack(503, "not taken: try again later"), {});
      } else if (durable) {
        answer(reply, failed_ack(500, "may or may not be stored: try again with its message id"),
               {});
      } else if (command.tell_no_responders && published &&
                 *published == bus::Published::kRefused) {
        answer(reply, {}, kNoResponders);
      }
    }
  }
  put_behind({.kind = Reply::Kind::kDone, .client = command.client, .cost = command.cost});
  if (!obeying_) post_behind();
}

// A message on a durable subject whose sender does not wait for an answer: it is tried until it is
// taken, within reason. A repeat does no harm, since handlers can tell.
Task<Result<bus::Published>> Desk::publish_unasked(bus::Message message) {
  Result<bus::Published> published = bus::Published::kRefused;
  for (int tries = 0; tries < limits::kUnaskedPublishesMax; ++tries) {
    bus::Sent sent = bus_.send(message);
    published = co_await sent.published;
    if (!published || *published == bus::Published::kStored) break;
    if (!co_await loop_.delay(limits::kRetryBusy)) break;
  }
  co_return published;
}

void Desk::answer(const std::string& reply, std::string payload, std::string_view headers) {
  bus::Message message{.subject = reply, .payload = std::move(payload), .id = {}};
  if (!headers.empty()) {
    message.extras = std::make_shared<bus::Extras>(std::string(), std::string(headers));
  }
  (void)bus_.send(std::move(message));
}

// --- Subscriptions -------------------------------------------------------------------------------

void Desk::subscribe(Command command) {
  Client& client = clients_[command.client];
  // A name that is in use stays what it is, as NATS does.
  if (client.subscriptions.contains(command.name)) return;
  auto refuse = [&](std::string_view why) {
    put({.kind = Reply::Kind::kError, .client = command.client, .text = std::string(why)});
  };
  if (client.subscriptions.size() >= limits::kSubscriptionsMax ||
      subscription_count_ >= subscriptions_max_) {
    return refuse("Maximum Subscriptions Exceeded");
  }
  auto remote = std::make_unique<Remote>();
  remote->client = command.client;
  remote->name = std::make_shared<const std::string>(command.name);
  remote->backlog = std::move(command.backlog);
  remote->worker = routing::worker_of_subject(command.message.subject);

  bus::SubscribeOptions options;
  options.queue = std::move(command.queue);
  options.consumes = false;
  options.deaf_to = command.echo ? 0 : command.client;
  auto subscription =
      bus_.subscribe(std::move(command.message.subject), std::move(options),
                     [this, target = remote.get()](bus::Delivery delivery) -> Task<bus::Verdict> {
                       if (!target->worker.empty()) {
                         return deliver_surely(*target, std::move(delivery));
                       }
                       deliver(*target, std::move(delivery));
                       return taken();
                     });
  if (!subscription) return refuse("Subscription Refused");
  remote->subscription = *std::move(subscription);
  listens(remote->worker);
  client.subscriptions.emplace(std::move(command.name), std::move(remote));
  ++subscription_count_;
}

void Desk::unsubscribe(const Command& command) {
  auto client = clients_.find(command.client);
  if (client == clients_.end()) return;
  auto found = client->second.subscriptions.find(command.name);
  if (found == client->second.subscriptions.end()) return;
  if (command.max && found->second->delivered < *command.max) {
    found->second->max = command.max;
  } else {
    remove(command.client, command.name);
  }
}

// A job is in safe hands when the system has it: a worker reads it even if this process dies. Until
// then it is ours to lose.
Task<bus::Verdict> Desk::deliver_surely(Remote& remote, bus::Delivery delivery) {
  const uint64_t number = ++last_number_;
  Completer<Result<void>> completer;
  Future<Result<void>> written = completer.future();
  clients_[remote.client].unwritten.emplace(number, std::move(completer));
  deliver(remote, std::move(delivery), number);
  // `remote` may be gone.
  if (co_await std::move(written)) co_return bus::Verdict::ack();
  co_return bus::Verdict::terminate("the connection ended before it was written");
}

void Desk::written(uint64_t client, uint64_t up_to) {
  auto found = clients_.find(client);
  if (found == clients_.end()) return;
  Unwritten& unwritten = found->second.unwritten;
  while (!unwritten.empty() && unwritten.begin()->first <= up_to) {
    unwritten.extract(unwritten.begin()).mapped().complete(Result<void>{});
  }
  forget_if_idle(found);
}

// Ends the subscription when it was its last message, or its client does not keep up: then `remote`
// is gone.
void Desk::deliver(Remote& remote, bus::Delivery delivery, uint64_t number) {
  const uint64_t client = remote.client;
  const std::shared_ptr<const std::string> name = remote.name;
  size_t cost = limits::kOperationBytes + delivery.subject.size() + delivery.payload.size();
  if (delivery.extras) cost += delivery.extras->reply.size() + delivery.extras->headers.size();
  if (remote.backlog->too_slow()) {
    put({.kind = Reply::Kind::kSlow, .client = client});
    return forget(client);
  }
  remote.backlog->add_transit(cost);
  put({.kind = Reply::Kind::kMessage,
       .client = client,
       .cost = cost,
       .number = number,
       .name = name,
       .subject = std::move(delivery.subject),
       .payload = std::move(delivery.payload),
       .extras = std::move(delivery.extras)});
  ++remote.delivered;
  if (remote.max && remote.delivered >= *remote.max) remove(client, *name);
}

void Desk::remove(uint64_t client, const std::string& name) {
  auto found = clients_.find(client);
  auto ended = found->second.subscriptions.extract(name);
  if (ended.empty()) return;
  --subscription_count_;
  forget_if_idle(found);
  listens_no_more(ended.mapped()->worker);
}

void Desk::forget_if_idle(Clients::iterator client) {
  if (client->second.subscriptions.empty() && client->second.unwritten.empty()) {
    clients_.erase(client);
  }
}

void Desk::forget(uint64_t client) {
  auto found = clients_.find(client);
  if (found == clients_.end()) return;
  subscription_count_ -= found->second.subscriptions.size();
  Client gone = std::move(found->second);
  clients_.erase(found);
  for (const auto& [name, remote] : gone.subscriptions) listens_no_more(remote->worker);
  for (auto& [number, job] : gone.unwritten) {
    job.complete(fail(ErrorCode::kUnavailable, "the connection ended"));
  }
}

void Desk::listens(const std::string& worker) {
  if (worker.empty() || ++listeners_[worker] != 2) return;
  log_.warning("jobs of a worker are listened for twice: two workers of one id?",
               {{"worker_id", worker}});
}

void Desk::listens_no_more(const std::string& worker) {
  if (worker.empty() || --listeners_[worker] > 0) return;
  listeners_.erase(worker);
  (void)bus_.send({.subject = std::string(bus::kWorkerGoneSubject), .payload = worker, .id = {}});
}

// --- Replies -------------------------------------------------------------------------------------

void Desk::post_behind() {
  if (behind_.empty()) return;
  loop_.post([self = std::weak_ptr(self_), batch = std::exchange(behind_, {})]() mutable {
    auto desk = self.lock();
    if (!desk) return;
    for (Reply& reply : batch) (*desk)->put(std::move(reply));
  });
}

void Desk::put(Reply reply) {
  replies_.push_back(std::move(reply));
  if (std::exchange(flush_posted_, true)) return;
  loop_.post([self = std::weak_ptr(self_)] {
    if (auto desk = self.lock()) (*desk)->flush();
  });
}

void Desk::flush() {
  flush_posted_ = false;
  if (!replies_.empty()) outlet_(std::exchange(replies_, {}));
}

}  // namespace fairlead::edge::nats
