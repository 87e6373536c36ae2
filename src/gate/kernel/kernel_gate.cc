#include "gate/kernel/kernel_gate.h"

#include "gate/kernel/kernel_calls.h"
#include "gate/kernel/kernel_messages.h"
#include "job/pointer.h"

namespace fairlead::gate {

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
  if (!breaker_.admit(clock_.monotonic())) return unavailable("safety kernel circuit open");
  Answer answer;
  Future<Result<job::Decision>> future = answer.future();
  tasks_.spawn(ask(request, record, std::move(answer)));
  return future;
}

Task<void> KernelGate::ask(cordum::agent::v1::JobRequest request, job::Record record,
                           Answer answer) {
  const std::optional<std::string> content = co_await content_of(request);
  auto response = co_await calls_->check(question_of(request, record, content));
  if (response) {
    breaker_.succeeded(clock_.monotonic());
    answer.complete(decision_of(*response));
  } else {
    breaker_.failed(clock_.monotonic());
    answer.complete(unavailable("safety kernel error: " + response.error().message));
  }
}

// A kernel may look into the input. One that cannot be read is judged without it.
Task<std::optional<std::string>> KernelGate::content_of(
    const cordum::agent::v1::JobRequest& request) {
  const std::string key(job::key_of_pointer(request.context_ptr()));
  if (key.empty()) co_return std::nullopt;
  auto blob = co_await store_.blob(key);
  if (blob && *blob) co_return std::move((*blob)->bytes);
  log_.warning("input not found for the policy check",
               {{"job_id", request.job_id()},
                {"context_ptr", request.context_ptr()},
                {"error", blob ? "no such key" : blob.error().message}});
  co_return std::nullopt;
}

}  // namespace fairlead::gate
