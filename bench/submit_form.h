// A submit of 400 bytes with places for the job's id: making one costs a copy, so that the client
// is a small part of what is measured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::bench {

class SubmitForm {
 public:
  explicit SubmitForm(const std::string& topic);
  std::string fill(std::string_view job) const;

 private:
  std::string form_;
  std::vector<size_t> places_;
};

}  // namespace fairlead::bench
