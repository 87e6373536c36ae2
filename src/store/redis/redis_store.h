// The store of a cluster: in a Redis that replicas share, with each other and with Go services.
//
// Every call is one command or one script, which Redis does as a whole; what many handlers ask in
// one turn of the loop goes out in one write. Jobs lie where the Go services look for them, in
// their encodings; ours beside them (README.md has the keys). What is acknowledged is as durable as
// the server is told to make it: with `appendfsync always`, on disk.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "store/redis/client/client.h"
#include "store/redis/redis_options.h"
#include "store/redis/scripts.h"
#include "store/redis/view.h"
#include "store/store.h"
#include "store/store_time.h"

namespace fairlead::store::redis {

struct Places;

// Something in Redis that others wrote, or a later program: it is passed over, and hides no other.
struct Unreadable {
  std::string name;
  std::string error;
};

// What an acknowledgement of the server is worth.
struct ServerSettings {
  bool append_only = false;
  std::string append_sync;   // "always", "everysec" or "no"
  std::string eviction;      // must be "noeviction", or live jobs may vanish
  int64_t replicas_min = 0;  // without so many it takes no writes
};

class RedisStore final : public Store {
 public:
  // Connects, which may take as long as the options say: for use before the loop runs. An error is
  // one sentence. Loop, clock and log must outlive the store, which lives on the loop's thread.
  static Result<std::unique_ptr<RedisStore>> open(RedisOptions options, Loop& loop,
                                                  const Clock& clock, Log& log);
  // Everything called so far happens, if Redis answers soon; futures still open never complete.
  ~RedisStore() override;

  Answer<Loaded> load(const JobId& job, LoadOptions options) override;
  Answer<Receipt> apply(Change change) override;
  Answer<Page> scan(Query query) override;
  Answer<std::vector<Claim>> claim(Claims claims) override;
  Answer<void> unclaim(const JobId& job, Duration pause) override;
  Answer<std::vector<WaitClassView>> waiting(std::string after, size_t limit) override;
  size_t waiting_in(std::string_view wait_class) const override;
  size_t jobs_in(job::State state) const override;
  Answer<Queues> queues() override;
  Answer<std::optional<JobId>> key_holder(const TenantId& tenant, std::string key) override;
  Answer<bool> acquire(std::string key, LeaseRequest lease) override;
  Answer<bool> renew(std::string key, LeaseRequest lease) override;
  Answer<void> release(std::string key, std::string token) override;
  Answer<WallTime> sign_of_life(std::string replica) override;
  Answer<Sequence> enqueue(Message message, WallTime now) override;
  Answer<void> forget(std::vector<Sequence> messages) override;
  Answer<std::vector<StoredMessage>> orphans(Duration age, size_t limit) override;
  Answer<std::vector<StoredMessage>> queued(size_t limit) override;
  Answer<std::vector<bool>> processed(std::vector<std::string> marks) override;
  Answer<Sequence> reserve_sequences(uint64_t count) override;
  Answer<std::vector<Timer>> due_timers(WallTime now, size_t limit) override;
  Answer<void> put_dead_letter(DeadLetter entry) override;
  Answer<std::optional<DeadLetter>> dead_letter(const JobId& job) override;
  Answer<std::vector<DeadLetter>> dead_letters(std::string cursor, size_t limit) override;
  Answer<bool> erase_dead_letter(const JobId& job) override;
  Answer<bool> put_blob(std::string key, Blob blob, BlobCondition condition) override;
  Answer<bool> swap_blob(std::string key, std::optional<std::string> expected, Blob blob) override;
  Answer<std::optional<Blob>> blob(std::string key, size_t max = limits::kBlobBytesMax) override;
  Answer<bool> erase_blob(std::string key) override;
  Answer<int64_t> add(std::string counter, int64_t delta) override;
  Answer<void> put_workers(Blob snapshot, std::vector<WorkerId> alive) override;
  Answer<BreakerAnswer> breaker(std::string name, BreakerEvent event, WallTime now) override;
  WallTime rewound_at() const override { return rewound_at_; }
  // Redis drops by itself what has a time of its own (blobs, idempotency keys) and does not tell.
  // Told are also jobs of Go services that were taken notice of.
  Answer<size_t> retire(WallTime now, size_t limit) override;

  // This replica ends: the others need not wait for that to show.
  Answer<void> leave(const std::string& replica);
  // The server's own clock, to compare ours with.
  Answer<WallTime> server_time();
  // The same as of the last sign of life, without asking: all that is stored goes by it. Before the
  // first one, the clock that was given.
  const Clock& clock() const { return clock_; }
  // kUnavailable or kCorrupt where the user may not ask for them.
  Answer<ServerSettings> server_settings();
  // Whether there is a connection now.
  bool connected() const { return client_->connected(); }
  size_t outstanding() const { return client_->outstanding(); }
  // Why Redis takes no new work though it answers, as of the last sign of life; empty: it does.
  const std::string& write_problem() const { return write_problem_; }
  // A number that changes within kRedisViewEvery when a replica has died; no IO.
  uint64_t deaths() const { return view_.deaths(); }

 private:
  RedisStore(RedisOptions options, std::unique_ptr<Client> client, Loop& loop, const Clock& clock,
             Log& log);

  Command script(Script script) const { return client_->script(static_cast<size_t>(script)); }
  template <class T, class Parse>
  Answer<T> ask(const Command& command, Parse parse);
  Answer<void> tell(const Command& command);
  Answer<bool> ask_whether(const Command& command);
  Answer<std::vector<StoredMessage>> ask_messages(const Command& command);

  Command apply_command(Change& change) const;
  void add_more(Command& apply, Change& change, const Places& places) const;
  Answer<Page> scan_members(Query query);
  void tell_unreadable(const std::vector<Unreadable>& passed);
  Command look() const;
  void keep_view_fresh();
  Command identify() const;
  void ask_identity();
  Result<WallTime> take_sign_of_life(Result<Reply> reply, MonotonicTime asked);
  void take_identity(const Result<Reply>& reply);

  const RedisOptions options_;
  Loop& loop_;
  Log& log_;
  StoreTime clock_;
  const MonotonicTime opened_;
  View view_;
  WallTime rewound_at_;
  bool identified_ = false;  // the server of this connection
  std::string write_problem_;
  // Where the last sweep through the live jobs ended.
  struct {
    int64_t live_index = 1;
    std::string live_after = "-inf";
  } retired_to_;
  // Of what is over: how many could not be read the last time.
  std::map<Query::By, size_t> passed_over_;
  std::set<std::string> told_unreadable_;
  TimerId view_timer_;
  // What the timer and the client's answers look at first: this may be gone.
  std::shared_ptr<RedisStore*> self_;
  std::unique_ptr<Client> client_;
};

template <class T, class Parse>
Answer<T> RedisStore::ask(const Command& command, Parse parse) {
  return client_->ask(command, [parse = std::move(parse)](Reply reply) mutable -> Result<T> {
    return parse(std::move(reply));
  });
}

}  // namespace fairlead::store::redis
