#include "store/redis/redis_store.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/limits.h"
#include "store/redis/arguments.h"
#include "store/redis/job_fields.h"

namespace fairlead::store::redis {

namespace {

using namespace std::chrono_literals;

// Epochs after a loss begin at its time: more than a job is handed out between two losses that a
// clock which was set back tells as one.
constexpr Duration kBetweenLosses = 1s;

}  // namespace

// --- Opening and closing -------------------------------------------------------------------------

Result<std::unique_ptr<RedisStore>> RedisStore::open(RedisOptions options, Loop& loop,
                                                     const Clock& clock, Log& log) {
  auto address = parse_address(options.url);
  if (!address) return std::unexpected(address.error());
  ClientOptions client_options{*std::move(address), options.tls, script_texts(options),
                               options.connect_wait, options.answer_wait};
  auto client = std::make_unique<Client>(std::move(client_options), loop, log);
  auto connected = client->wait_until_connected(options.connect_patience);
  if (!connected) return std::unexpected(connected.error());
  std::unique_ptr<RedisStore> store(
      new RedisStore(std::move(options), std::move(client), loop, clock, log));
  auto identity = store->client_->ask_and_wait(store->identify(), limits::kRedisConnectWait);
  if (!identity && identity.error().code == ErrorCode::kUnavailable) {
    return std::unexpected(identity.error());
  }
  store->take_identity(identity);
  auto counts = store->client_->ask_and_wait(store->look(), limits::kRedisConnectWait);
  if (!counts) return std::unexpected(counts.error());
  store->view_.read(*std::move(counts));
  store->keep_view_fresh();
  return store;
}

RedisStore::RedisStore(RedisOptions options, std::unique_ptr<Client> client, Loop& loop,
                       const Clock& clock, Log& log)
    : options_(std::move(options)),
      loop_(loop),
      log_(log),
      clock_(clock),
      opened_(clock.monotonic()),
      self_(std::make_shared<RedisStore*>(this)),
      client_(std::move(client)) {
  // First of all calls, so that nothing that is read from another server is acted on before.
  client_->on_connected([this] { ask_identity(); });
}

RedisStore::~RedisStore() {
  loop_.cancel(view_timer_);
}

// What was lost is later than what was lost before, whatever our clock says.
Command RedisStore::identify() const {
  Command identify = script(Script::kIdentify);
  identify.add(std::max(clock_.wall(), rewound_at_ + kBetweenLosses));
  return identify;
}

void RedisStore::ask_identity() {
  identified_ = false;
  client_->call(identify(), [self = std::weak_ptr(self_)](const Result<Reply>& reply) {
    if (auto alive = self.lock()) (*alive)->take_identity(reply);
  });
}

// A server that takes no writes cannot note that it is another one: until it does, it is taken for
// one that has lost something.
void RedisStore::take_identity(const Result<Reply>& reply) {
  if (!reply) {
    rewound_at_ = std::max(rewound_at_ + kBetweenLosses, clock_.wall());
    return;
  }
  identified_ = true;
  if (!reply->none()) rewound_at_ = std::max(rewound_at_, wall_time_from_micros(reply->number()));
}

Command RedisStore::look() const {
  Command look = script(Script::kView);
  look.add(view_.cursor());
  look.add(limits::kRedisClassesRead);
  return look;
}

void RedisStore::keep_view_fresh() {
  view_timer_ = loop_.call_at(loop_.now() + limits::kRedisViewEvery, [this] {
    client_->call(look(), [self = std::weak_ptr(self_)](Result<Reply> reply) {
      auto alive = self.lock();
      if (!alive) return;
      if (reply) (*alive)->view_.read(*std::move(reply));
      (*alive)->keep_view_fresh();
    });
  });
}

Answer<WallTime> RedisStore::server_time() {
  return ask<WallTime>(Command("TIME"), [](Reply reply) {
    return Result<WallTime>(
        wall_time_from_micros(reply.at(0).number() * 1'000'000 + reply.at(1).number()));
  });
}

Answer<ServerSettings> RedisStore::server_settings() {
  return ask<ServerSettings>(Command("CONFIG", "GET", "*"), [](Reply reply) {
    ServerSettings settings;
    for (size_t i = 0; i + 1 < reply.items.size(); i += 2) {
      const std::string& name = reply.items[i].text;
      std::string& value = reply.items[i + 1].text;
      if (name == "appendonly") settings.append_only = value == "yes";
      if (name == "appendfsync") settings.append_sync = std::move(value);
      if (name == "maxmemory-policy") settings.eviction = std::move(value);
      if (name == "min-replicas-to-write") settings.replicas_min = reply.items[i + 1].number();
    }
    return Result<ServerSettings>(std::move(settings));
  });
}

Answer<void> RedisStore::tell(const Command& command) {
  return ask<void>(command, [](Reply) { return Result<void>{}; });
}

Answer<bool> RedisStore::ask_whether(const Command& command) {
  return ask<bool>(command, [](Reply reply) { return Result<bool>(reply.number() > 0); });
}

// --- Jobs ----------------------------------------------------------------------------------------

Answer<Loaded> RedisStore::load(const JobId& job, LoadOptions options) {
  Command load = script(Script::kLoad);
  load.add(job);
  load.add(options.with_request ? "1" : "0");
  load.add(options.lease ? options.lease->token : std::string());
  if (options.lease) load.add(milliseconds(options.lease->ttl));
  load.add(options.mark);
  return ask<Loaded>(load, [job, with = options.with_request](Reply reply) -> Result<Loaded> {
    Loaded loaded;
    loaded.lease_taken = reply.at(0).number() == 1;
    if (reply.at(1).none()) return loaded;
    auto found = found_job(job, std::move(reply.at(1)), with);
    if (!found) return std::unexpected(found.error());
    loaded.record = std::make_shared<const job::Record>(std::move(found->record));
    if (with) loaded.request = std::move(found->request);
    return loaded;
  });
}

// --- Waiting -------------------------------------------------------------------------------------

std::vector<Claim> claims_of(Reply& list) {
  std::vector<Claim> claims;
  for (Reply& item : list.items) {
    claims.push_back({JobId(item.at(0).take_text()), item.at(1).take_text(),
                      wall_time_from_micros(item.at(2).number())});
  }
  return claims;
}

Answer<std::vector<Claim>> RedisStore::claim(Claims claims) {
  Command claim = script(Script::kClaim);
  claim.add(clock_.wall());
  claim.add(clock_.at(opened_));
  claim.add(claims.max);
  claim.add(claims.classes.size());
  for (const std::string& name : claims.classes) claim.add(name);
  return ask<std::vector<Claim>>(
      claim, [](Reply reply) { return Result<std::vector<Claim>>(claims_of(reply)); });
}

Answer<void> RedisStore::unclaim(const JobId& job, Duration pause) {
  Command unclaim = script(Script::kUnclaim);
  unclaim.add(job);
  unclaim.add(clock_.wall() + pause);
  return tell(unclaim);
}

Answer<std::vector<WaitClassView>> RedisStore::waiting(std::string after, size_t limit) {
  using Views = std::vector<WaitClassView>;
  Command waiting = script(Script::kWaiting);
  waiting.add(after);
  waiting.add(std::min(limit, limits::kScanMax));
  return ask<Views>(waiting, [](Reply reply) -> Result<Views> {
    Views views;
    for (Reply& item : reply.items) {
      views.push_back({item.at(0).take_text(), item.at(1).unsigned_number(),
                       wall_time_from_micros(item.at(2).number())});
    }
    return views;
  });
}

size_t RedisStore::waiting_in(std::string_view wait_class) const {
  return view_.waiting_in(wait_class);
}

size_t RedisStore::jobs_in(job::State state) const {
  return view_.jobs_in(state);
}

Answer<Queues> RedisStore::queues() {
  Command queues = script(Script::kQueues);
  queues.add(limits::kRedisVisitsMax);
  return ask<Queues>(queues, [](Reply reply) {
    Queues found;
    found.complete = reply.at(0).number() == 1;
    for (Reply& item : reply.at(1).items) {
      Queue queue{Topic(item.at(0).take_text()), TenantId(item.at(1).take_text()), {}, {}};
      if (!item.at(2).text.empty()) queue.oldest = wall_time_from_micros(item.at(2).number());
      // In the order of the states, the live ones first.
      for (size_t i = 0; i < item.at(3).items.size(); ++i) {
        queue.jobs[i] = item.at(3).at(i).unsigned_number();
      }
      found.all.push_back(std::move(queue));
    }
    std::ranges::sort(found.all, {},
                      [](const Queue& queue) { return std::tie(queue.topic, queue.tenant); });
    return Result<Queues>(std::move(found));
  });
}

Answer<std::optional<JobId>> RedisStore::key_holder(const TenantId& tenant, std::string key) {
  using Holder = std::optional<JobId>;
  return ask<Holder>(Command("GET", idempotency_key(tenant, key)), [](Reply reply) {
    return Result<Holder>(reply.none() ? Holder{} : Holder(JobId(reply.take_text())));
  });
}

}  // namespace fairlead::store::redis
