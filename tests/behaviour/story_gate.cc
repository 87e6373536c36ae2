#include "tests/behaviour/story_gate.h"

#include <memory>

namespace fairlead::behaviour {

using Answer = Result<job::Decision>;

Future<Answer> StoryGate::check(const cordum::agent::v1::JobRequest& request,
                                const job::Record& record) {
  job::Decision unavailable;
  unavailable.kind = job::Decision::Kind::kUnavailable;
  unavailable.reason = "safety kernel circuit open";
  Future<Answer> answer =
      available_ ? topics_.check(request, record) : Future<Answer>(std::move(unavailable));
  if (in_process()) return answer;

  Completer<Answer> completer;
  Future<Answer> later = completer.future();
  loop_.call_at(loop_.now() + delay_,
                [completer = std::move(completer), decision = answer.await_resume()]() mutable {
                  completer.complete(std::move(decision));
                });
  return later;
}

}  // namespace fairlead::behaviour
