// Labels of jobs and workers. Of a job's labels only those that begin with `placement.`,
// `constraint.` or `node.` say where it may run; all others are business (RT-6).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace fairlead::routing {

using Labels = std::map<std::string, std::string, std::less<>>;

bool is_placement_label(std::string_view name);

// Those of `labels` that constrain placement.
Labels placement_labels(const Labels& labels);

// The first of `required` that `labels` lack or hold with another value; nullptr when they carry
// them all. Points into `required`.
const Labels::value_type* first_mismatch(const Labels& labels, const Labels& required);

// The value of the label `name`, or "".
std::string_view value_of(const Labels& labels, std::string_view name);

struct LabelsHash {
  size_t operator()(const Labels& labels) const;
};

}  // namespace fairlead::routing
