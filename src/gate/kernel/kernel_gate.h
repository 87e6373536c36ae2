// The gate of a safety kernel: cordum.agent.v1.SafetyKernel/Check over gRPC.
//
// The breaker is shared by all replicas. While it is closed each goes by its own count of it, and
// tells the others of failures only; a probe is asked for. Without the store each goes by its own.
//
// A kernel that does not answer in time, answers with an error or is given a rest by the breaker is
// "unavailable"; whether the job may go on then is not decided here.
#pragma once

#include <memory>
#include <string>

#include "base/breaker.h"
#include "base/log.h"
#include "gate/gate.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "runtime/nursery.h"
#include "store/store.h"

namespace fairlead::gate {

struct KernelOptions {
  std::string address = "localhost:50051";
  std::string tls_ca;  // certificates in PEM; empty: no TLS
  Duration deadline = std::chrono::seconds(2);
  Duration keepalive_every = std::chrono::seconds(30);
  Duration keepalive_timeout = std::chrono::seconds(10);
};

class KernelCalls;

class KernelGate final : public Gate {
 public:
  // What it is plugged into outlives it.
  KernelGate(Loop& loop, const Clock& clock, store::Store& store, Log& log, KernelOptions options);
  // Cancels what is asked and waits for gRPC to let go of it.
  ~KernelGate() override;

  Future<Result<job::Decision>> check(const cordum::agent::v1::JobRequest& request,
                                      const job::Record& record) override;
  bool in_process() const override { return false; }
  const char* circuit() const override { return problem().empty() ? "closed" : "open"; }
  // Why it is not asked now; empty: it is.
  std::string problem() const;

 private:
  using Answer = Completer<Result<job::Decision>>;

  Task<void> ask(cordum::agent::v1::JobRequest request, job::Record record, Answer answer);
  // Whether the kernel may be asked now.
  Task<bool> admitted();
  // What became of a call.
  Task<void> tell(bool succeeded);
  void follow(const store::BreakerAnswer& shared);
  Task<std::optional<store::Blob>> content_of(const cordum::agent::v1::JobRequest& request);

  const Clock& clock_;
  store::Store& store_;
  Log& log_;
  Breaker<MonotonicTime> breaker_;
  std::unique_ptr<KernelCalls> calls_;
  // Last, so that the tasks go before what they use.
  Nursery tasks_;
};

}  // namespace fairlead::gate
