#include "store/redis/client/client.h"

#include <condition_variable>
#include <mutex>
#include <utility>

#include <fmt/core.h>
#include <openssl/evp.h>

#include "base/check.h"
#include "store/redis/client/connection.h"

namespace fairlead::store::redis {

namespace {

// The name that Redis gives a script: SHA-1 of its text, in hexadecimal.
std::string hash_of(const std::string& script) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  check(EVP_Digest(script.data(), script.size(), digest, &size, EVP_sha1(), nullptr) == 1,
        "SHA-1 is there");
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace

struct Client::Turn {
  std::vector<Call> calls;
};

// What a thread waits for that runs no loop yet: a connection, or one answer.
struct Client::Waiter {
  std::mutex mutex;
  std::condition_variable changed;
  bool connected = false;
  uint64_t connection = 0;
  std::optional<Error> error;
  uint64_t awaited = 0;
  std::optional<Result<Reply>> answer;

  // Takes the awaited answer out of what came.
  void take_from(std::vector<Answered>& answers) {
    std::lock_guard lock(mutex);
    if (awaited == 0) return;
    std::erase_if(answers, [this](Answered& answered) {
      if (answered.number != awaited) return false;
      answer = std::move(answered.answer);
      return true;
    });
    changed.notify_all();
  }
};

Client::Client(ClientOptions options, Loop& loop, Log& log)
    : loop_(loop),
      log_(log),
      shown_(options.address.shown()),
      lost_(Error{ErrorCode::kUnavailable, "there is no connection to Redis yet"}),
      waiter_(std::make_shared<Waiter>()),
      turn_(std::make_unique<Turn>()),
      self_(std::make_shared<Client*>(this)) {
  for (const std::string& script : options.scripts) hashes_.push_back(hash_of(script));
  Connection::Listener listener;
  listener.answered = [&loop, self = std::weak_ptr(self_),
                       waiter = waiter_](std::vector<Answered> answers) {
    waiter->take_from(answers);
    loop.post([self, answers = std::move(answers)]() mutable {
      for (Answered& answered : answers) {
        auto alive = self.lock();
        if (!alive) return;
        (*alive)->complete(answered.number, std::move(answered.answer));
      }
    });
  };
  listener.changed = [&loop, self = std::weak_ptr(self_), waiter = waiter_](
                         std::optional<Error> lost, uint64_t connection) {
    {
      std::lock_guard lock(waiter->mutex);
      waiter->connected = !lost;
      waiter->connection = connection;
      waiter->error = lost;
    }
    waiter->changed.notify_all();
    loop.post([self, lost = std::move(lost), connection]() mutable {
      if (auto alive = self.lock()) (*alive)->tell(std::move(lost), connection);
    });
  };
  connection_ = std::make_unique<Connection>(
      Connection::Options{std::move(options.address), std::move(options.tls),
                          std::move(options.scripts), options.connect_wait, options.answer_wait},
      std::move(listener));
}

Client::~Client() {
  hand_over();
}

Result<void> Client::wait_until_connected(Duration patience) {
  std::unique_lock lock(waiter_->mutex);
  waiter_->changed.wait_for(lock, patience, [this] {
    // What a person has to change will not change by itself.
    return waiter_->connected || (waiter_->error && waiter_->error->code == ErrorCode::kInvalid);
  });
  if (waiter_->connected) {
    lost_.reset();
    connection_known_ = waiter_->connection;
    return {};
  }
  if (waiter_->error) return std::unexpected(*waiter_->error);
  return fail(ErrorCode::kUnavailable, fmt::format("{} does not answer", shown_));
}

Result<Reply> Client::ask_and_wait(const Command& command, Duration patience) {
  Call call;
  call.number = ++last_;
  command.write_to(call.bytes);
  std::unique_lock lock(waiter_->mutex);
  waiter_->awaited = call.number;
  std::vector<Call> calls;
  calls.push_back(std::move(call));
  connection_->take(std::move(calls), waiter_->connection);
  waiter_->changed.wait_for(lock, patience, [this] { return waiter_->answer.has_value(); });
  if (!waiter_->answer) return fail(ErrorCode::kUnavailable, shown_ + " does not answer");
  waiter_->awaited = 0;
  return *std::exchange(waiter_->answer, std::nullopt);
}

void Client::call(const Command& command, Done done) {
  if (lost_) return done(fail(ErrorCode::kUnavailable, lost_->message));
  if (waiting_.size() >= limits::kCommitQueueMax ||
      waiting_bytes_ >= limits::kCommitQueueBytesMax) {
    return done(fail(ErrorCode::kUnavailable,
                     fmt::format("busy: {} commands wait for Redis", waiting_.size())));
  }
  uint64_t number = ++last_;
  Call& call = turn_->calls.emplace_back();
  call.number = number;
  command.write_to(call.bytes);
  waiting_bytes_ += call.bytes.size();
  waiting_.emplace(number, Waiting{std::move(done), call.bytes.size()});
  if (std::exchange(hand_over_posted_, true)) return;
  loop_.post([self = std::weak_ptr(self_)] {
    auto alive = self.lock();
    if (!alive) return;
    (*alive)->hand_over_posted_ = false;
    (*alive)->hand_over();
  });
}

Command Client::script(size_t index) const {
  return Command("EVALSHA", hashes_.at(index), 0);
}

void Client::hand_over() {
  if (turn_->calls.empty()) return;
  connection_->take(std::exchange(turn_->calls, {}), connection_known_);
}

void Client::complete(uint64_t number, Result<Reply> answer) {
  auto found = waiting_.find(number);
  check(found != waiting_.end(), "a call is answered once");
  Done done = std::move(found->second.done);
  waiting_bytes_ -= found->second.bytes;
  waiting_.erase(found);
  done(std::move(answer));
}

void Client::tell(std::optional<Error> lost, uint64_t connection) {
  hand_over();  // they were meant for the one before
  connection_known_ = connection;
  if (lost) {
    // Told once for each reason: it is tried again several times a second.
    if (!lost_ || lost_->message != lost->message) {
      log_.warning("redis connection lost", {{"redis", shown_}, {"error", lost->message}});
    }
  } else {
    log_.info("redis connected", {{"redis", shown_}});
  }
  lost_ = std::move(lost);
  if (!lost_) on_connected_();
}

}  // namespace fairlead::store::redis
