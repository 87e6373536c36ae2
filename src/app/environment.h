// The variables of the environment, as the Go services read them: words for true and false in any
// case, and a number or a time that makes no sense counts as not set, with a warning (CFG-2).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"

namespace fairlead::app {

using Variables = std::map<std::string, std::string>;

class Environment {
 public:
  // The variables must outlive it.
  explicit Environment(const Variables& variables) : variables_(variables) {}

  // Without blanks around it; "": not set.
  std::string text(const std::string& name) const;
  bool is_set(const std::string& name) const { return !text(name).empty(); }
  bool is_on(const std::string& name) const;
  // CORDUM_ENV or CORDUM_PRODUCTION says so.
  bool is_production() const;

  // Leave `into` as it is when the variable is not set or makes no sense.
  void read(const std::string& name, Duration& into);
  // A whole number from 1, in these units.
  void read(const std::string& name, Duration unit, Duration& into);
  void read(const std::string& name, size_t& into);

  void warn(std::string warning) { warnings_.push_back(std::move(warning)); }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  const Variables& variables_;
  std::vector<std::string> warnings_;
};

// The variables of this process.
Variables own_environment();

}  // namespace fairlead::app
