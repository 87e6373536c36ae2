// Calls to a safety kernel that are on their way: gRPC answers on threads of its own, the answers
// are handed to the loop.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cordum/agent/v1/safety.grpc.pb.h"
#include "gate/kernel/kernel_gate.h"

namespace fairlead::gate {

class KernelCalls {
 public:
  using Response = cordum::agent::v1::PolicyCheckResponse;

  KernelCalls(Loop& loop, const KernelOptions& options);
  KernelCalls(const KernelCalls&) = delete;
  KernelCalls& operator=(const KernelCalls&) = delete;
  ~KernelCalls();

  // An error is what gRPC says of the call. Loop thread only.
  Future<Result<Response>> check(cordum::agent::v1::PolicyCheckRequest request);

 private:
  struct Call {
    grpc::ClientContext context;
    cordum::agent::v1::PolicyCheckRequest request;
    Response response;
    grpc::Status status;
  };

  void arrived(uint64_t number);
  void complete();

  Loop& loop_;
  const Duration deadline_;
  std::unique_ptr<cordum::agent::v1::SafetyKernel::Stub> stub_;
  uint64_t last_ = 0;
  std::map<uint64_t, std::unique_ptr<Call>> calls_;
  std::map<uint64_t, Completer<Result<Response>>> waiting_;
  // What is posted to the loop looks here first: this may be gone.
  std::shared_ptr<KernelCalls*> self_;

  std::mutex mutex_;
  std::condition_variable all_arrived_;
  size_t under_way_ = 0;           // guarded by mutex_
  std::vector<uint64_t> arrived_;  // guarded by mutex_
};

}  // namespace fairlead::gate
