#include "edge/resp/shelf.h"

#include <fmt/format.h>

namespace fairlead::edge::resp {

using namespace std::chrono_literals;
using Kind = Request::Kind;
using Text = Result<std::string>;

namespace {

std::string explain(const Error& problem) {
  if (problem.code == ErrorCode::kFull) return error("OOM not stored: " + problem.message);
  return error("ERR the store says: " + problem.describe());
}

}  // namespace

Shelf::Shelf(Loop& loop, const Clock& clock, store::Store& store, Duration kept, Outlet outlet)
    : loop_(loop),
      clock_(clock),
      store_(store),
      kept_(kept),
      outlet_(std::move(outlet)),
      self_(std::make_shared<Shelf*>(this)) {}

void Shelf::obey(std::vector<Request> requests) {
  for (Request& request : requests) {
    const uint64_t client = request.client;
    if (request.kind == Kind::kGone) {
      auto gone = clients_.find(client);
      if (gone == clients_.end()) continue;
      in_hand_ -= gone->second.waiting.size();
      gone->second.waiting.clear();
      if (gone->second.reading == 0) clients_.erase(gone);
      continue;
    }
    ++in_hand_;
    clients_[client].waiting.push_back(std::move(request));
    pump(client);
  }
}

// Starts what may start. Everything behind a read that has to wait waits too, so that order holds.
void Shelf::pump(uint64_t id) {
  auto found = clients_.find(id);
  if (found == clients_.end() || found->second.pumping) return;
  Client& client = found->second;
  client.pumping = true;  // requests that end at once come back here
  while (!client.waiting.empty()) {
    const bool reads = client.waiting.front().reads_values();
    if (reads && client.reading >= kReadsAtOnce) break;
    Request request = std::move(client.waiting.front());
    client.waiting.pop_front();
    if (request.backlog->too_slow()) {
      --in_hand_;
      put({.client = id, .slot = request.slot, .cost = request.cost, .slow = true});
      continue;
    }
    client.reading += reads;
    tasks_.spawn(serve(std::move(request)));
  }
  client.pumping = false;
  if (client.waiting.empty() && client.reading == 0) clients_.erase(found);
}

Task<void> Shelf::serve(Request request) {
  Text text = co_await carry_out(request);
  std::string bytes = text ? *std::move(text) : explain(text.error());
  --in_hand_;
  const size_t transit = bytes.size();
  request.backlog->add_transit(transit);
  put({.client = request.client,
       .slot = request.slot,
       .cost = request.cost,
       .transit = transit,
       .bytes = std::move(bytes)});
  if (!request.reads_values()) co_return;
  --clients_.at(request.client).reading;
  pump(request.client);
}

Task<Text> Shelf::carry_out(Request& request) {
  if (Result<void> ready = co_await keys_free(request); !ready) {
    co_return std::unexpected(ready.error());
  }
  switch (request.kind) {
    case Kind::kGet:
    case Kind::kLength:
      co_return co_await get(request);
    case Kind::kGetMany:
      co_return co_await get_many(request);
    case Kind::kErase:
      co_return co_await erase(request);
    case Kind::kCount:
      co_return co_await count(request);
    case Kind::kExpire:
      co_return co_await expire(request);
    case Kind::kSeconds:
    case Kind::kMillis:
      co_return co_await time_left(request);
    case Kind::kSet: {
      store::Blob blob{std::move(request.value), clock_.wall() + request.ttl.value_or(kept_)};
      auto put = co_await store_.put_blob(request.keys[0], std::move(blob), request.condition);
      if (!put) co_return std::unexpected(put.error());
      co_return *put ? simple("OK") : null(request.version);
    }
    case Kind::kGone:
      break;
  }
  co_return std::string();
}

Task<Text> Shelf::get(const Request& request) {
  auto blob = co_await store_.blob(request.keys[0]);
  if (!blob) co_return std::unexpected(blob.error());
  if (request.kind == Kind::kLength) {
    co_return number(*blob ? static_cast<int64_t>((*blob)->bytes.size()) : 0);
  }
  co_return *blob ? bulk((*blob)->bytes) : null(request.version);
}

Task<Text> Shelf::get_many(const Request& request) {
  std::string text = array(request.keys.size());
  for (const std::string& key : request.keys) {
    auto blob = co_await store_.blob(key);
    if (!blob) co_return std::unexpected(blob.error());
    text += *blob ? bulk((*blob)->bytes) : null(request.version);
    if (text.size() > limits::kBlobBytesMax) {
      co_return error("ERR the values are too large for one answer: ask for fewer");
    }
  }
  co_return text;
}

Task<Text> Shelf::count(const Request& request) {
  int64_t present = 0;
  for (const std::string& key : request.keys) {
    auto blob = co_await store_.blob(key);
    if (!blob) co_return std::unexpected(blob.error());
    present += blob->has_value();
  }
  co_return number(present);
}

Task<Text> Shelf::erase(const Request& request) {
  int64_t gone = 0;
  for (const std::string& key : request.keys) {
    auto erased = co_await store_.erase_blob(key);
    if (!erased) co_return std::unexpected(erased.error());
    gone += *erased;
  }
  co_return number(gone);
}

Task<Text> Shelf::expire(const Request& request) {
  const std::string& key = request.keys[0];
  expiring_.try_emplace(key);
  auto done = [&](Text text) {
    auto waiters = expiring_.extract(key);
    for (auto& waiter : waiters.mapped()) waiter.complete({});
    return text;
  };
  if (!request.ttl) {
    auto erased = co_await store_.erase_blob(key);
    if (!erased) co_return done(std::unexpected(erased.error()));
    co_return done(number(*erased));
  }
  auto blob = co_await store_.blob(key);
  if (!blob) co_return done(std::unexpected(blob.error()));
  if (!*blob) co_return done(number(0));
  (*blob)->expires = clock_.wall() + *request.ttl;
  auto put = co_await store_.put_blob(key, **std::move(blob), store::BlobCondition::kIfPresent);
  if (!put) co_return done(std::unexpected(put.error()));
  co_return done(number(*put));
}

Task<Text> Shelf::time_left(const Request& request) {
  auto blob = co_await store_.blob(request.keys[0]);
  if (!blob) co_return std::unexpected(blob.error());
  if (!*blob) co_return number(-2);
  if (!(*blob)->expires) co_return number(-1);
  const int64_t millis = std::max<int64_t>(0, (*(*blob)->expires - clock_.wall()) / 1ms);
  co_return number(request.kind == Kind::kMillis ? millis : (millis + 500) / 1000);
}

Task<Result<void>> Shelf::keys_free(const Request& request) {
  for (size_t i = 0; i < request.keys.size();) {
    auto busy = expiring_.find(request.keys[i]);
    if (busy == expiring_.end()) {
      ++i;
      continue;
    }
    Future<Result<void>> freed = busy->second.emplace_back().future();
    if (Result<void> done = co_await freed; !done) co_return done;
    i = 0;  // another may have begun meanwhile
  }
  co_return Result<void>{};
}

void Shelf::put(Answer answer) {
  answers_.push_back(std::move(answer));
  if (std::exchange(flush_posted_, true)) return;
  loop_.post([self = std::weak_ptr(self_)] {
    if (auto shelf = self.lock()) (*shelf)->flush();
  });
}

void Shelf::flush() {
  flush_posted_ = false;
  if (!answers_.empty()) outlet_(std::exchange(answers_, {}));
}

}  // namespace fairlead::edge::resp
