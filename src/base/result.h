// Errors are values: what may fail for reasons outside the program returns a Result.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace fairlead {

// What the caller can do about it, not where it came from.
enum class ErrorCode {
  kInvalid,      // the input is wrong; the same call will fail again
  kNotFound,     // the thing named does not exist
  kUnavailable,  // nothing was changed; try again later
  kUnknown,      // it may or may not have happened; look before trying again
  kFull,         // a limit or the disk is full; nothing was changed; free something, then try again
  kCorrupt,      // stored bytes make no sense; a person has to look
  kCancelled,    // the task was told to stop
};

const char* to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  std::string message;

  // The message behind the code's name, for logs: "unavailable: disk is slow".
  std::string describe() const;

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

}  // namespace fairlead
