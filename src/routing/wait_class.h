// A name for the set of workers that a job can take: waiting jobs of one name wait for the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "routing/labels.h"
#include "routing/worker.h"

namespace fairlead::routing {

struct WaitClass {
  // Sorted, each once, at least one.
  std::vector<PoolName> pools;
  Labels placement;
  // Empty: it does not matter.
  Topic topic = {};

  bool operator==(const WaitClass&) const = default;
};

// "pools=a,b;topic=job.x;node.zone=eu": pools, the topic if it matters, then labels by name;
// everything but letters, digits and -._/: in them is written as %XX. Equal texts mean equal
// classes, on every replica.
// REQUIRES: `pools` as in a WaitClass; no label is called "topic".
std::string wait_class_text(const std::vector<PoolName>& pools, const Labels& placement,
                            const Topic& topic = {});
// Gives back what `wait_class_text` was given; any other text is kInvalid.
Result<WaitClass> parse_wait_class(std::string_view text);

// Whether the worker is one of those that jobs of the class can take, load aside.
bool fits(const WaitClass& wait_class, const WorkerReport& worker);

}  // namespace fairlead::routing
