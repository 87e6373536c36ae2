#include "sim/sim_gate.h"

namespace fairlead::sim {

Future<Result<job::Decision>> SimGate::check(const cordum::agent::v1::JobRequest& request,
                                             const job::Record& record) {
  Future<Result<job::Decision>> answer = policy_.check(request, record);
  job::Decision decision = *answer.await_resume();
  if (in_process()) return decision;
  Duration delay = world_.delay(world_.options.bus_delay_max);
  if (world_.strikes(world_.options.gate_hang, "policy kernel hangs")) {
    decision = {};
    decision.kind = job::Decision::Kind::kUnavailable;
    decision.reason = "simulated: the kernel hangs";
    delay = std::chrono::seconds(2);
  }
  auto completer = std::make_shared<Completer<Result<job::Decision>>>();
  Future<Result<job::Decision>> future = completer->future();
  world_.loop.call_at(world_.loop.now() + delay, [process = process_, completer, decision] {
    Process::run(process, [completer, decision] { completer->complete(decision); });
  });
  return future;
}

}  // namespace fairlead::sim
