// A kind of line: its pattern and what it does to the world, or demands of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tests/behaviour/pattern.h"
#include "tests/behaviour/world.h"

namespace fairlead::behaviour {

struct Step {
  enum class Needs {
    kNothing,    // a setting: the scheduler need not have started
    kStarted,    // the scheduler is started for it, and may be down again
    kScheduler,  // the scheduler must be up
  };

  Pattern pattern;
  Needs needs;
  // An error says what was expected and what was there.
  std::function<Result<void>(World&, const Args&)> run;
};

// Every line that a story may have.
const std::vector<Step>& all_steps();

// The parts of it.
void add_given_steps(std::vector<Step>& steps);
void add_worker_steps(std::vector<Step>& steps);
void add_client_steps(std::vector<Step>& steps);
void add_fault_steps(std::vector<Step>& steps);
void add_job_expectations(std::vector<Step>& steps);
void add_other_expectations(std::vector<Step>& steps);

inline std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::kInvalid, std::move(message));
}

}  // namespace fairlead::behaviour
