#include "gate/kernel/kernel_calls.h"

#include <grpc/support/time.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

namespace fairlead::gate {

namespace {

int milliseconds(Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

std::shared_ptr<grpc::Channel> channel_to(const KernelOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, milliseconds(options.keepalive_every));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, milliseconds(options.keepalive_timeout));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // A kernel that comes back is noticed soon: the breaker already keeps us from hammering it.
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5000);
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (!options.tls_ca.empty()) {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = options.tls_ca;
    credentials = grpc::SslCredentials(tls);
  }
  return grpc::CreateCustomChannel(options.address, credentials, arguments);
}

}  // namespace

KernelCalls::KernelCalls(Loop& loop, const KernelOptions& options)
    : loop_(loop),
      deadline_(options.deadline),
      stub_(cordum::agent::v1::SafetyKernel::NewStub(channel_to(options))),
      self_(std::make_shared<KernelCalls*>(this)) {}

KernelCalls::~KernelCalls() {
  for (auto& [number, call] : calls_) call->context.TryCancel();
  std::unique_lock lock(mutex_);
  all_arrived_.wait(lock, [this] { return under_way_ == 0; });
}

Future<Result<KernelCalls::Response>> KernelCalls::check(
    cordum::agent::v1::PolicyCheckRequest request) {
  const uint64_t number = ++last_;
  Call& call = *calls_.emplace(number, std::make_unique<Call>()).first->second;
  call.request = std::move(request);
  // gRPC keeps deadlines by a clock of its own.
  call.context.set_deadline(gpr_time_add(
      gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(milliseconds(deadline_), GPR_TIMESPAN)));
  Completer<Result<Response>> completer;
  Future<Result<Response>> future = completer.future();
  waiting_.emplace(number, std::move(completer));
  {
    std::lock_guard lock(mutex_);
    ++under_way_;
  }
  stub_->async()->Check(&call.context, &call.request, &call.response,
                        [this, number, &call](grpc::Status status) {
                          call.status = std::move(status);
                          arrived(number);
                        });
  return future;
}

// On a thread of gRPC's.
void KernelCalls::arrived(uint64_t number) {
  std::lock_guard lock(mutex_);
  if (arrived_.empty()) {
    loop_.post([self = std::weak_ptr(self_)] {
      if (auto alive = self.lock()) (*alive)->complete();
    });
  }
  arrived_.push_back(number);
  --under_way_;
  all_arrived_.notify_all();
}

void KernelCalls::complete() {
  std::vector<uint64_t> arrived;
  {
    std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
  }
  // A waiter that is woken may drop us.
  std::weak_ptr<KernelCalls*> self = self_;
  for (uint64_t number : arrived) {
    if (self.expired()) return;
    auto call = std::move(calls_.extract(number).mapped());
    auto completer = std::move(waiting_.extract(number).mapped());
    if (call->status.ok()) {
      completer.complete(std::move(call->response));
    } else {
      completer.complete(fail(ErrorCode::kUnavailable, call->status.error_message()));
    }
  }
}

}  // namespace fairlead::gate
