// Keeps what the scheduler says, for a story to look at.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/log.h"

namespace fairlead::behaviour {

class StoryLog final : public Log {
 public:
  struct Said {
    Level level;
    std::string phrase;
    std::map<std::string, std::string> fields;
  };

  void write(Level level, std::string_view phrase, std::initializer_list<Field> fields) override {
    Said said{level, std::string(phrase), {}};
    for (const auto& [name, value] : fields) said.fields[std::string(name)] = value;
    all_.push_back(std::move(said));
  }

  const std::vector<Said>& all() const { return all_; }

 private:
  std::vector<Said> all_;
};

}  // namespace fairlead::behaviour
