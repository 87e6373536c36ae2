// Against a kernel that really listens: a gRPC server in the same process.
#include "gate/kernel/kernel_gate.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <string>

#include <gmock/gmock.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "cordum/agent/v1/safety.grpc.pb.h"
#include "gate/kernel/kernel_messages.h"
#include "store/contract/pump_loop.h"
#include "store/memory/memory_store.h"

namespace fairlead::gate {
namespace {

namespace cap = cordum::agent::v1;
using Kind = job::Decision::Kind;
using testing::HasSubstr;
using testing::StartsWith;

class Kernel final : public cap::SafetyKernel::CallbackService {
 public:
  Kernel() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~Kernel() override {
    let_go();
    server_->Shutdown();
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int asked() const { return asked_; }
  cap::PolicyCheckRequest last() {
    std::lock_guard lock(mutex_);
    return last_;
  }
  // What it does with the calls from now on.
  enum class Mood { kAnswer, kFail, kHang };
  void set(Mood mood) { mood_ = mood; }
  // Answers those that hang.
  void let_go() {
    std::lock_guard lock(mutex_);
    for (grpc::ServerUnaryReactor* call : hanging_) call->Finish(grpc::Status::OK);
    hanging_.clear();
  }

 private:
  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const cap::PolicyCheckRequest* request,
                                  cap::PolicyCheckResponse* response) override {
    auto* call = context->DefaultReactor();
    std::lock_guard lock(mutex_);
    ++asked_;
    last_ = *request;
    switch (mood_) {
      case Mood::kAnswer:
        response->set_decision(cap::DECISION_TYPE_ALLOW);
        response->set_reason("fine");
        call->Finish(grpc::Status::OK);
        break;
      case Mood::kFail:
        call->Finish(grpc::Status(grpc::StatusCode::INTERNAL, "policy file is broken"));
        break;
      case Mood::kHang:
        hanging_.push_back(call);
        break;
    }
    return call;
  }

  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::atomic<int> asked_ = 0;
  std::atomic<Mood> mood_ = Mood::kAnswer;
  std::mutex mutex_;
  cap::PolicyCheckRequest last_;                   // guarded by mutex_
  std::deque<grpc::ServerUnaryReactor*> hanging_;  // guarded by mutex_
};

class KernelGateTest : public testing::Test {
 protected:
  KernelGate& gate() {
    if (!gate_) {
      gate_ = std::make_unique<KernelGate>(loop_, clock_, store_, log_, options_);
    }
    return *gate_;
  }
  job::Decision check() {
    auto answer = loop_.wait(gate().check(request_, record_));
    EXPECT_TRUE(answer.has_value());
    return answer ? *answer : job::Decision{};
  }

  Kernel kernel_;
  store::PumpLoop loop_;
  store::ManualClock clock_;
  store::MemoryStore store_{clock_};
  NoLog log_;
  KernelOptions options_{.address = kernel_.address()};
  cap::JobRequest request_;
  job::Record record_;
  std::unique_ptr<KernelGate> gate_;
};

TEST_F(KernelGateTest, TheKernelIsAskedAndItsAnswerTaken) {
  record_.topic = Topic("job.a");
  job::Decision decision = check();
  EXPECT_EQ(decision.kind, Kind::kAllow);
  EXPECT_EQ(decision.reason, "fine");
  EXPECT_EQ(kernel_.last().topic(), "job.a");
  EXPECT_FALSE(gate().in_process());
}

TEST_F(KernelGateTest, TheInputGoesWithTheQuestion) {
  ASSERT_TRUE(*loop_.wait(store_.put_blob("ctx:j1", {"the input", {}}, {})));
  request_.set_context_ptr("redis://ctx:j1");
  check();
  EXPECT_EQ(kernel_.last().input_content(), "the input");
}

TEST_F(KernelGateTest, OfALargeInputTheKernelIsToldTheBeginningAndTheSize) {
  const size_t size = kKernelContentBytesMax + 7;
  ASSERT_TRUE(*loop_.wait(store_.put_blob("ctx:j1", {std::string(size, 'x'), {}}, {})));
  request_.set_context_ptr("redis://ctx:j1");
  check();
  EXPECT_EQ(kernel_.last().input_content().size(), kKernelContentBytesMax);
  EXPECT_EQ(kernel_.last().input_size_bytes(), static_cast<int64_t>(size));
}

TEST_F(KernelGateTest, AnInputThatIsNotThereIsJudgedWithoutIt) {
  request_.set_context_ptr("redis://ctx:gone");
  EXPECT_EQ(check().kind, Kind::kAllow);
  EXPECT_EQ(kernel_.last().input_content(), "");
}

TEST_F(KernelGateTest, AnErrorOfTheKernelIsUnavailableWithItsWords) {
  kernel_.set(Kernel::Mood::kFail);
  job::Decision decision = check();
  EXPECT_EQ(decision.kind, Kind::kUnavailable);
  EXPECT_EQ(decision.reason, "safety kernel error: policy file is broken");
}

TEST_F(KernelGateTest, AKernelThatIsNotThereIsUnavailable) {
  options_.address = "127.0.0.1:1";
  job::Decision decision = check();
  EXPECT_EQ(decision.kind, Kind::kUnavailable);
  EXPECT_THAT(decision.reason, StartsWith("safety kernel error: "));
}

TEST_F(KernelGateTest, AKernelThatHangsIsUnavailableAtTheDeadlineAndOpensTheCircuit_H83) {
  kernel_.set(Kernel::Mood::kHang);
  options_.deadline = std::chrono::milliseconds(50);
  for (int i = 0; i < kBreakerFailuresToOpen; ++i) {
    job::Decision decision = check();
    EXPECT_EQ(decision.kind, Kind::kUnavailable);
    EXPECT_THAT(decision.reason, HasSubstr("Deadline"));
  }
  EXPECT_EQ(check().reason, "safety kernel circuit open");
  EXPECT_STREQ(gate().circuit(), "open");
  EXPECT_EQ(kernel_.asked(), kBreakerFailuresToOpen) << "an open circuit does not call";
}

TEST_F(KernelGateTest, ACircuitClosesWhenTheKernelAnswersAgain) {
  kernel_.set(Kernel::Mood::kFail);
  for (int i = 0; i < kBreakerFailuresToOpen; ++i) check();
  kernel_.set(Kernel::Mood::kAnswer);
  EXPECT_EQ(check().kind, Kind::kUnavailable);
  clock_.advance(kBreakerOpenFor);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(check().kind, Kind::kAllow);
  EXPECT_STREQ(gate().circuit(), "closed");
}

TEST_F(KernelGateTest, WhatOneReplicaLearnedOfTheKernelIsKnownToTheOthers) {
  KernelGate other(loop_, clock_, store_, log_, options_);
  auto check_other = [&] { return *loop_.wait(other.check(request_, record_)); };
  kernel_.set(Kernel::Mood::kFail);
  for (int i = 0; i < kBreakerFailuresToOpen; ++i) check();
  const int asked = kernel_.asked();
  // One failure of its own is enough.
  EXPECT_THAT(check_other().reason, HasSubstr("broken"));
  EXPECT_EQ(check_other().reason, "safety kernel circuit open");
  EXPECT_EQ(other.problem(), "safety kernel circuit open");
  EXPECT_EQ(kernel_.asked(), asked + 1);

  kernel_.set(Kernel::Mood::kAnswer);
  clock_.advance(kBreakerOpenFor);
  for (int i = 0; i < kBreakerSuccessesToClose; ++i) EXPECT_EQ(check().kind, Kind::kAllow);
  kernel_.set(Kernel::Mood::kFail);
  // It was closed by the first: one failure does not open it again.
  for (int i = 0; i < 2; ++i) EXPECT_THAT(check_other().reason, HasSubstr("broken"));
}

TEST_F(KernelGateTest, QuestionsAreAskedAtTheSameTime) {
  kernel_.set(Kernel::Mood::kHang);
  std::vector<Future<Result<job::Decision>>> answers;
  for (int i = 0; i < 20; ++i) answers.push_back(gate().check(request_, record_));
  while (kernel_.asked() < 20) loop_.run_ready();
  kernel_.let_go();
  for (auto& answer : answers) EXPECT_TRUE(loop_.wait(std::move(answer)));
}

TEST_F(KernelGateTest, AGateGoesAwayWhileItsQuestionsHang) {
  kernel_.set(Kernel::Mood::kHang);
  auto answer = gate().check(request_, record_);
  while (kernel_.asked() < 1) loop_.run_ready();
  gate_.reset();
  loop_.run_ready();
  EXPECT_FALSE(answer.await_ready());
}

}  // namespace
}  // namespace fairlead::gate
