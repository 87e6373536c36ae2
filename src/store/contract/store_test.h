// What every test of the contract stands on: a store, its loop and its clock, and short ways to say
// what a test means.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "store/contract/pump_loop.h"
#include "store/store.h"

namespace fairlead::store {

using namespace std::chrono_literals;

struct StoreKind {
  std::string name;
  // `folder` is the test's own and does not exist yet; a store that keeps nothing ignores it.
  std::function<std::unique_ptr<Store>(Loop&, const Clock&, const std::string& folder)> open;
  // Lets time pass on servers that the store asks, which have clocks of their own.
  std::function<void(Duration)> advance_servers = [](Duration) {};
};

inline void PrintTo(const StoreKind& kind, std::ostream* out) {
  *out << kind.name;
}

inline std::string name_of(const testing::TestParamInfo<StoreKind>& info) {
  return info.param.name;
}

// A folder that is gone with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = testing::TempDir() + "fairlead-store-XXXXXX";
    check(mkdtemp(pattern.data()) != nullptr, "there is room for a temporary folder");
    root_ = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(root_); }
  std::string inside(const std::string& name) const { return (root_ / name).string(); }

 private:
  std::filesystem::path root_;
};

class StoreTest : public testing::TestWithParam<StoreKind> {
 protected:
  StoreTest() { reopen(); }

  void reopen() {
    store_.reset();
    store_ = GetParam().open(loop_, clock_, folder_.inside("data"));
    ASSERT_NE(store_, nullptr);
  }

  Store& store() { return *store_; }
  void advance(Duration duration) {
    clock_.advance(duration);
    loop_.advance(duration);
    GetParam().advance_servers(duration);
  }
  WallTime now() const { return clock_.wall(); }

  // The answer of a call that must succeed.
  template <class T>
  T get(Answer<T> answer) {
    Result<T> result = loop_.wait(std::move(answer));
    check(result.has_value(), "the call succeeds");
    if constexpr (!std::is_void_v<T>) return *std::move(result);
  }

  // The receipt of a change, which must be of the kind named.
  template <class Kind>
  Kind apply(Change change) {
    Receipt receipt = get(store().apply(std::move(change)));
    EXPECT_TRUE(std::holds_alternative<Kind>(receipt)) << "receipt " << receipt.index();
    if (auto* kind = std::get_if<Kind>(&receipt)) return std::move(*kind);
    return Kind{};
  }

  std::optional<job::Record> load(const std::string& job) {
    Snapshot record = get(store().load(JobId(job), {})).record;
    return record ? std::optional(*record) : std::nullopt;
  }
  std::string request(const std::string& job) {
    return get(store().load(JobId(job), {.with_request = true})).request;
  }

  job::Record fresh(const std::string& id) const {
    job::Record record;
    record.id = JobId(id);
    record.topic = Topic("job.test");
    record.tenant = TenantId("acme");
    record.created_at = record.updated_at = now();
    return record;
  }
  // The admission of a job as PENDING.
  Change admission(const std::string& id) const { return admission(fresh(id)); }
  Change admission(job::Record record) const {
    Change change;
    change.path = {record.state};
    *change.next = std::move(record);
    return change;
  }
  // A change of the job as it is now, to a state.
  Change change(const std::string& id, job::State state) {
    std::optional<job::Record> record = load(id);
    check(record.has_value(), "the job to change is there");
    return change(*std::move(record), state);
  }
  Change change(job::Record record, job::State state) const {
    Change change;
    change.guard.revision = record.revision;
    change.path = {state};
    *change.next = std::move(record);
    change.next->state = state;
    change.next->updated_at = now();
    return change;
  }
  Change dispatch(const std::string& id, const std::string& worker) {
    Change dispatched = change(id, job::State::kDispatched);
    dispatched.next->assignee = WorkerId(worker);
    dispatched.next->wait.reset();
    return dispatched;
  }
  // An admission of a job that waits in a class.
  Change waiting(const std::string& id, const std::string& wait_class) const {
    Change change = admission(id);
    change.next->wait = job::Wait{job::ReasonCode::kNoWorkers, "", wait_class, now()};
    return change;
  }

  void admit(const std::string& id) { apply<Applied>(admission(id)); }
  void end(const std::string& id, job::State state = job::State::kSucceeded) {
    apply<Applied>(change(id, state));
  }

  Page scan(Query query) { return get(store().scan(std::move(query))); }
  std::vector<std::string> ids(Query query) {
    std::vector<std::string> found;
    for (const job::Record& record : scan(std::move(query)).records) {
      found.push_back(record.id.str());
    }
    return found;
  }
  // The same, page by page.
  std::vector<std::string> ids_by_pages(Query query, size_t page_size) {
    std::vector<std::string> found;
    query.limit = page_size;
    do {
      Page page = scan(query);
      for (const job::Record& record : page.records) found.push_back(record.id.str());
      query.cursor = page.next;
    } while (!query.cursor.empty());
    return found;
  }
  std::vector<std::string> claimed(Claims claims) {
    std::vector<std::string> found;
    for (const Claim& claim : get(store().claim(std::move(claims)))) {
      found.push_back(claim.job.str());
    }
    return found;
  }

  PumpLoop loop_;
  ManualClock clock_;
  TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
};

using Ids = std::vector<std::string>;

}  // namespace fairlead::store
