// Where the logic says what it did: a phrase that operators search for, and named values beside it.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace fairlead {

class Log {
 public:
  enum class Level { kDebug, kInfo, kWarning, kError };
  using Field = std::pair<std::string_view, std::string_view>;

  virtual ~Log() = default;
  virtual void write(Level level, std::string_view phrase, std::initializer_list<Field> fields) = 0;

  void info(std::string_view phrase, std::initializer_list<Field> fields) {
    write(Level::kInfo, phrase, fields);
  }
  void warning(std::string_view phrase, std::initializer_list<Field> fields) {
    write(Level::kWarning, phrase, fields);
  }
  void error(std::string_view phrase, std::initializer_list<Field> fields) {
    write(Level::kError, phrase, fields);
  }
};

// For benches and for simulations that nobody reads.
class NoLog final : public Log {
 public:
  void write(Level, std::string_view, std::initializer_list<Field>) override {}
};

}  // namespace fairlead
