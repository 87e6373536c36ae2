// The log, on standard error: one line for each event, as text or as JSON.
//
//   2026-01-02T03:04:05.000006Z WARNING no pool mapping for topic job_id=7 topic=job.x
//   {"time":"2026-01-02T03:04:05.000006Z","level":"warning","message":"…","job_id":"7"}
#pragma once

#include <string>

#include "app/config.h"
#include "base/log.h"
#include "runtime/clock.h"

namespace fairlead::app {

// Any thread. A line is one write, so lines do not mix.
class StderrLog final : public Log {
 public:
  StderrLog(LogStyle style, const Clock& clock) : style_(style), clock_(clock) {}

  void write(Level level, std::string_view phrase, std::initializer_list<Field> fields) override;

  // The line without where it goes.
  std::string line(Level level, std::string_view phrase, std::initializer_list<Field> fields) const;

 private:
  const LogStyle style_;
  const Clock& clock_;
};

// What protobuf has to say goes to `log` until the object ends. One at a time.
class ProtobufLog {
 public:
  explicit ProtobufLog(Log& log);
  ~ProtobufLog();
  ProtobufLog(const ProtobufLog&) = delete;
  ProtobufLog& operator=(const ProtobufLog&) = delete;
};

}  // namespace fairlead::app
