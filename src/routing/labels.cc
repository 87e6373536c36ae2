#include "routing/labels.h"

#include <boost/container_hash/hash.hpp>

#include "job/placement_label.h"

namespace fairlead::routing {

bool is_placement_label(std::string_view name) {
  return job::is_placement_label(name);
}

Labels placement_labels(const Labels& labels) {
  Labels placement;
  for (const auto& label : labels) {
    if (is_placement_label(label.first)) placement.insert(placement.end(), label);
  }
  return placement;
}

const Labels::value_type* first_mismatch(const Labels& labels, const Labels& required) {
  for (const auto& label : required) {
    auto found = labels.find(label.first);
    if (found == labels.end() || found->second != label.second) return &label;
  }
  return nullptr;
}

std::string_view value_of(const Labels& labels, std::string_view name) {
  auto found = labels.find(name);
  return found == labels.end() ? std::string_view{} : found->second;
}

size_t LabelsHash::operator()(const Labels& labels) const {
  size_t hash = 0;
  for (const auto& [name, value] : labels) {
    boost::hash_combine(hash, name);
    boost::hash_combine(hash, value);
  }
  return hash;
}

}  // namespace fairlead::routing
