#include "edge/http/api/pool_book.h"

#include <fmt/core.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "edge/http/api/message.h"
#include "edge/http/http_limits.h"

namespace fairlead::http {

namespace {

constexpr const char* kBlobKey = "fairlead:pools";

json::array list_of(const std::vector<std::string>& texts) {
  json::array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

// What is in force as the text of a pools file: JSON is YAML.
Result<std::shared_ptr<const routing::PoolMap>> map_of(const PoolBook::Topics& topics,
                                                       const PoolBook::Pools& pools) {
  json::object topic_section;
  for (const auto& [name, topic] : topics) topic_section[name] = list_of(topic.pools);
  json::object pool_section;
  for (const auto& [name, pool] : pools) {
    pool_section[name] = {{"requires", list_of(pool.requires_)},
                          {"status", routing::to_string(pool.status)},
                          {"description", pool.description}};
  }
  json::object file{{"topics", std::move(topic_section)}, {"pools", std::move(pool_section)}};
  auto map = routing::parse_pool_map(json::serialize(file));
  if (!map) return std::unexpected(map.error());
  return std::make_shared<const routing::PoolMap>(*std::move(map));
}

template <class Entries, class Changes>
void apply_changes(Entries& entries, const Changes& changes) {
  for (const auto& [name, entry] : changes) {
    if (entry) {
      entries[name] = *entry;
    } else {
      entries.erase(name);
    }
  }
}

template <class Entries, class Changes>
void find_changes(const Entries& file, const Entries& wanted, Changes& changes) {
  for (const auto& [name, entry] : wanted) {
    auto same = file.find(name);
    if (same == file.end() || same->second != entry) changes[name] = entry;
  }
  for (const auto& [name, entry] : file) {
    if (!wanted.contains(name)) changes[name] = std::nullopt;
  }
}

}  // namespace

PoolBook::PoolBook(Loop& loop, store::Store& store, std::shared_ptr<const routing::PoolMap> file,
                   InForce in_force)
    : loop_(loop), store_(store), in_force_(std::move(in_force)) {
  Merged entries = entries_of(*file);
  topics_ = file_topics_ = std::move(entries.topics);
  pools_ = file_pools_ = std::move(entries.pools);
}

PoolBook::Merged PoolBook::entries_of(const routing::PoolMap& file) {
  Merged out;
  for (const Topic& topic : file.topics()) {
    TopicEntry& entry = out.topics[topic.str()];
    for (const PoolName& pool : *file.pools_of(topic)) entry.pools.push_back(pool.str());
  }
  for (const routing::Pool& pool : file.pools()) {
    PoolEntry& entry = out.pools[pool.name.str()];
    entry.requires_ = pool.capabilities;
    entry.description = pool.description;
    entry.status = pool.status;
  }
  return out;
}

PoolBook::Merged PoolBook::merged(const PoolChanges& changes) const {
  Merged both{file_topics_, file_pools_};
  apply_changes(both.topics, changes.topics);
  apply_changes(both.pools, changes.pools);
  return both;
}

PoolChanges PoolBook::changes_to(const Topics& topics, const Pools& pools) const {
  PoolChanges changes;
  find_changes(file_topics_, topics, changes.topics);
  find_changes(file_pools_, pools, changes.pools);
  return changes;
}

Task<Result<void>> PoolBook::start() {
  auto read = co_await reread();
  // Nothing was changed yet: then the file is in force as it is.
  if (read && !stored_) {
    auto map = map_of(topics_, pools_);
    if (!map) co_return std::unexpected(map.error());
    in_force_(*map);
  }
  co_return read;
}

Task<Result<void>> PoolBook::reread() {
  if (auto turn = co_await wait_for_my_turn(); !turn) co_return turn;
  changing_ = true;
  auto blob = co_await store_.blob(kBlobKey);
  changing_ = false;
  if (!blob) co_return std::unexpected(blob.error());
  std::optional<std::string> bytes;
  if (*blob) bytes = std::move((*blob)->bytes);
  if (bytes == stored_) co_return Result<void>{};
  PoolChanges changes;
  if (bytes) {
    auto decoded = decode_pool_changes(*bytes);
    if (!decoded) co_return std::unexpected(decoded.error());
    changes = *std::move(decoded);
  }
  Merged both = merged(changes);
  auto map = map_of(both.topics, both.pools);
  if (!map) {
    co_return fail(ErrorCode::kInvalid,
                   fmt::format("the pools file does not go with the topics and pools that were "
                               "made by calls: {}",
                               map.error().message));
  }
  stored_ = std::move(bytes);
  topics_ = std::move(both.topics);
  pools_ = std::move(both.pools);
  in_force_(*map);
  co_return Result<void>{};
}

Task<Result<void>> PoolBook::wait_for_my_turn() {
  MonotonicTime until = loop_.now() + limits::kLeaseWaitMax;
  while (changing_) {
    if (loop_.now() >= until) co_return fail(ErrorCode::kUnavailable, "another change is made");
    if (auto waited = co_await loop_.delay(limits::kLeasePollEvery); !waited) co_return waited;
  }
  co_return Result<void>{};
}

Task<Result<void>> PoolBook::replace_file(std::shared_ptr<const routing::PoolMap> file) {
  if (auto turn = co_await wait_for_my_turn(); !turn) co_return turn;
  PoolChanges changes = changes_to(topics_, pools_);
  Merged entries = entries_of(*file);
  Merged both = entries;
  apply_changes(both.topics, changes.topics);
  apply_changes(both.pools, changes.pools);
  auto map = map_of(both.topics, both.pools);
  if (!map) {
    co_return fail(ErrorCode::kInvalid, fmt::format("it does not go with the topics and pools that "
                                                    "were made by calls: {}",
                                                    map.error().message));
  }
  file_topics_ = std::move(entries.topics);
  file_pools_ = std::move(entries.pools);
  topics_ = std::move(both.topics);
  pools_ = std::move(both.pools);
  in_force_(*map);
  co_return Result<void>{};
}

Task<Result<void>> PoolBook::change(Edit edit) {
  for (int tries = 0; tries < limits::kConflictRetriesMax; ++tries) {
    bool overtaken = false;
    Result<void> changed = co_await change_once(edit, overtaken);
    if (changed) on_changed_();
    if (!overtaken) co_return changed;
    if (auto read = co_await reread(); !read) co_return read;
  }
  co_return fail(ErrorCode::kUnavailable, "others change topics and pools all the time");
}

Task<Result<void>> PoolBook::change_once(const Edit& edit, bool& overtaken) {
  if (auto turn = co_await wait_for_my_turn(); !turn) co_return turn;
  Topics topics = topics_;
  Pools pools = pools_;
  if (auto edited = edit(topics, pools); !edited) co_return edited;
  PoolChanges changes = changes_to(topics, pools);
  if (changes.topics.size() + changes.pools.size() > limits::kPoolBookEntriesMax) {
    co_return fail(ErrorCode::kFull,
                   fmt::format("at most {} topics and pools are made by calls: the rest belongs "
                               "into the pools file",
                               limits::kPoolBookEntriesMax));
  }
  auto map = map_of(topics, pools);
  if (!map) co_return std::unexpected(map.error());

  changing_ = true;
  std::string bytes = encode(changes);
  auto stored = co_await store_.swap_blob(kBlobKey, stored_, {bytes, std::nullopt});
  changing_ = false;
  if (!stored) co_return std::unexpected(stored.error());
  if (!*stored) {
    overtaken = true;
    co_return fail(ErrorCode::kUnavailable, "another change came between");
  }
  stored_ = std::move(bytes);
  topics_ = std::move(topics);
  pools_ = std::move(pools);
  in_force_(*map);
  co_return Result<void>{};
}

}  // namespace fairlead::http
