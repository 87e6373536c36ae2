#include "gate/kernel/kernel_gate.h"

#include "gate/kernel/kernel_calls.h"
#include "gate/kernel/kernel_messages.h"
#include "job/pointer.h"

namespace fairlead::gate {

namespace {

constexpr const char* kBreakerName = "safety";
constexpr const char* kCircuitOpen = "safety kernel circuit open";

}  // namespace

KernelGate::KernelGate(Loop& loop, const Clock& clock, store::Store& store, Log& log,
                       KernelOptions options)
    : clock_(clock),
      store_(store),
      log_(log),
      calls_(std::make_unique<KernelCalls>(loop, options)) {}

KernelGate::~KernelGate() {
  tasks_.drop();
}

Future<Result<job::Decision>> KernelGate::check(const cordum::agent::v1::JobRequest& request,
                                                const job::Record& record) {
  if (!problem().empty()) return unavailable(problem());
  Answer answer;
  Future<Result<job::Decision>> future = answer.future();
  tasks_.spawn(ask(request, record, std::move(answer)));
  return future;
}

std::string KernelGate::problem() const {
  const auto until = breaker_.open_until();
  return until && clock_.monotonic() < *until ? kCircuitOpen : "";
}

Task<void> KernelGate::ask(cordum::agent::v1::JobRequest request, job::Record record,
                           Answer answer) {
  if (!co_await admitted()) {
    answer.complete(unavailable(kCircuitOpen));
    co_return;
  }
  const std::optional<store::Blob> content = co_await content_of(request);
  auto response = co_await calls_->check(question_of(request, record, content));
  if (response) {
    answer.complete(decision_of(*response));
  } else {
    answer.complete(unavailable("safety kernel error: " + response.error().message));
  }
  co_await tell(response.has_value());
}

Task<bool> KernelGate::admitted() {
  const std::optional<MonotonicTime> until = breaker_.open_until();
  if (!until) co_return true;
  if (clock_.monotonic() < *until) co_return false;
  auto shared = co_await store_.breaker(kBreakerName, store::BreakerEvent::kAsk, clock_.wall());
  if (!shared) co_return breaker_.admit(clock_.monotonic());
  follow(*shared);
  (void)breaker_.admit(clock_.monotonic());  // should the store be away when it is answered
  co_return shared->admitted;
}

Task<void> KernelGate::tell(bool succeeded) {
  const bool nothing_new = succeeded && !breaker_.open_until() && !breaker_.has_failures();
  if (succeeded) {
    breaker_.succeeded(clock_.monotonic());
  } else {
    breaker_.failed(clock_.monotonic());
  }
  if (nothing_new) co_return;
  auto event = succeeded ? store::BreakerEvent::kSuccess : store::BreakerEvent::kFailure;
  auto shared = co_await store_.breaker(kBreakerName, event, clock_.wall());
  if (shared) follow(*shared);
}

void KernelGate::follow(const store::BreakerAnswer& shared) {
  if (!shared.open_until) {
    // Failures of our own that the others know of too are not forgotten.
    if (breaker_.open_until()) breaker_.close();
    return;
  }
  const Duration left = *shared.open_until - clock_.wall();
  if (left > Duration(0)) breaker_.open(clock_.monotonic() + left);
}

// A kernel may look into the input. One that cannot be read is judged without it.
Task<std::optional<store::Blob>> KernelGate::content_of(
    const cordum::agent::v1::JobRequest& request) {
  const std::string key(job::key_of_pointer(request.context_ptr()));
  if (key.empty()) co_return std::nullopt;
  auto blob = co_await store_.blob(key, kKernelContentBytesMax);
  if (blob && *blob) co_return *std::move(blob);
  log_.warning("input not found for the policy check",
               {{"job_id", request.job_id()},
                {"context_ptr", request.context_ptr()},
                {"error", blob ? "no such key" : blob.error().message}});
  co_return std::nullopt;
}

}  // namespace fairlead::gate
