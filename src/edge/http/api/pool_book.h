// The pools and topics in force: those of the pools file and, over them, those that calls made or
// changed. What calls did is one value in the store and lasts; the file stays as it is.
//
// A change is durable before it is in force, and changes are made one after the other. Others may
// make changes too, in the same store: each is made to what they left, and reread() follows theirs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "routing/pool_map.h"
#include "runtime/loop.h"
#include "runtime/task.h"
#include "store/store.h"

namespace fairlead::http {

struct TopicEntry {
  std::vector<std::string> pools;  // at least one
  std::string input_schema_id;
  std::string output_schema_id;
  std::string pack_id;
  std::vector<std::string> requires_;
  std::vector<std::string> risk_tags;
  bool enabled = true;

  bool operator==(const TopicEntry&) const = default;
};

struct PoolEntry {
  std::vector<std::string> requires_;
  std::string description;
  routing::PoolStatus status = routing::PoolStatus::kActive;
  std::optional<WallTime> drain_started_at;
  int64_t drain_seconds = 0;

  bool operator==(const PoolEntry&) const = default;
};

// By name; no value: what the file has of that name is taken away.
struct PoolChanges {
  std::map<std::string, std::optional<TopicEntry>> topics;
  std::map<std::string, std::optional<PoolEntry>> pools;
};

// The form in which changes are stored, and back. Stored bytes are not trusted.
std::string encode(const PoolChanges& changes);
Result<PoolChanges> decode_pool_changes(std::string_view text);

class PoolBook {
 public:
  using Topics = std::map<std::string, TopicEntry>;
  using Pools = std::map<std::string, PoolEntry>;
  using InForce = std::function<void(std::shared_ptr<const routing::PoolMap>)>;
  // Makes a change to what is in force. An error leaves everything as it was.
  using Edit = std::function<Result<void>(Topics&, Pools&)>;

  // `in_force` is told of every new map, first from start().
  PoolBook(Loop& loop, store::Store& store, std::shared_ptr<const routing::PoolMap> file,
           InForce in_force);

  // Brings back what calls did in earlier lives.
  Task<Result<void>> start();

  // kInvalid when the outcome would make no sense, kFull when there are too many entries. The edit
  // is made again when another change came between.
  Task<Result<void>> change(Edit edit);
  // Called after each change that was made here.
  void on_changed(std::function<void()> told) { on_changed_ = std::move(told); }
  // Brings into force what others changed.
  Task<Result<void>> reread();

  // The file was edited: what calls did stays, over the new one. kInvalid when they do not go
  // together; everything is as it was then.
  Task<Result<void>> replace_file(std::shared_ptr<const routing::PoolMap> file);

  const Topics& topics() const { return topics_; }
  const Pools& pools() const { return pools_; }

 private:
  struct Merged {
    Topics topics;
    Pools pools;
  };
  static Merged entries_of(const routing::PoolMap& file);
  Merged merged(const PoolChanges& changes) const;
  Task<Result<void>> wait_for_my_turn();
  Task<Result<void>> change_once(const Edit& edit, bool& overtaken);
  PoolChanges changes_to(const Topics& topics, const Pools& pools) const;

  Loop& loop_;
  store::Store& store_;
  Topics file_topics_;
  Pools file_pools_;
  InForce in_force_;
  Topics topics_;
  Pools pools_;
  std::optional<std::string> stored_;  // the changes, as they were last read or put
  std::function<void()> on_changed_ = [] {};
  bool changing_ = false;
};

}  // namespace fairlead::http
