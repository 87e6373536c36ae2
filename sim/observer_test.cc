#include "sim/observer.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace fairlead::sim {
namespace {

class ObserverTest : public testing::Test {
 protected:
  ObserverTest() {
    observer_.store_time = [] { return std::nullopt; };
    observer_.surely_lives = [](const WorkerId&) { return false; };
  }

  static job::Record record(const std::string& id) {
    job::Record record;
    record.id = JobId(id);
    record.topic = Topic("job.x");
    return record;
  }
  void admit(const job::Record& record) {
    observer_.submitted(record.id);
    store::Change change;
    *change.next = record;
    change.path = {job::State::kPending};
    observer_.committed(nullptr, change);
  }
  void dispatch(const job::Record& before, uint32_t deliveries) {
    store::Change change;
    *change.next = before;
    change.next->state = job::State::kDispatched;
    change.next->deliveries = deliveries;
    change.path = {job::State::kDispatched};
    observer_.committed(std::make_shared<const job::Record>(before), change);
  }

  Observer observer_;
};

TEST_F(ObserverTest, AJobIsNotHandedOutMoreOftenThanPolicyAllows) {
  observer_.limited_topic(Topic("job.x"), 2);
  dispatch(record("j"), 2);
  EXPECT_FALSE(observer_.violated());
  dispatch(record("j"), 3);
  EXPECT_TRUE(observer_.violated());
}

TEST_F(ObserverTest, TwoJobsOfATenantAreNotAdmittedWithOneKey) {
  job::Record first = record("first");
  first.idempotency_key = "key";
  job::Record elsewhere = first;
  elsewhere.id = JobId("elsewhere");
  elsewhere.tenant = TenantId("other");
  admit(first);
  admit(elsewhere);
  EXPECT_FALSE(observer_.violated());
  job::Record second = first;
  second.id = JobId("second");
  admit(second);
  EXPECT_TRUE(observer_.violated());
}

TEST_F(ObserverTest, AKeyWhoseJobTheStoreLostMayBeTakenByAnother) {
  job::Record first = record("first");
  first.idempotency_key = "key";
  admit(first);
  observer_.store_rewound({first.id});
  job::Record second = first;
  second.id = JobId("second");
  admit(second);
  EXPECT_FALSE(observer_.violated());
}

TEST_F(ObserverTest, AJobThatNeedsAnApprovalIsHandedOutOnlyWithOneThatSomebodyGave) {
  observer_.approval_topic(Topic("job.x"));
  job::Record job = record("j");
  job.epoch = Epoch(1);
  job.assignee = WorkerId("w");
  job.approval = job::Approval{"hash", "policy", "somebody"};
  observer_.approved(job.id);
  observer_.handed_out(job.id, Epoch(1), WorkerId("w"), std::make_shared<const job::Record>(job));
  EXPECT_FALSE(observer_.violated());
  job.epoch = Epoch(2);
  job.approval.reset();  // it was for one dispatch
  observer_.handed_out(job.id, Epoch(2), WorkerId("w"), std::make_shared<const job::Record>(job));
  EXPECT_TRUE(observer_.violated());
}

}  // namespace
}  // namespace fairlead::sim
