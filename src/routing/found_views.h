// Where the workers of a route were found, so that the next pick need not look for them again.
#pragma once

#include <cstdint>
#include <vector>

namespace fairlead::routing {

class CandidateView;
class WorkerIndex;

// Good for that version of the index; 0 is none.
struct FoundViews {
  const WorkerIndex* index = nullptr;
  uint64_t version = 0;
  std::vector<CandidateView*> views;
};

}  // namespace fairlead::routing
