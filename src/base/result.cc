#include "base/result.h"

namespace fairlead {

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kUnknown:
      return "unknown";
    case ErrorCode::kFull:
      return "full";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kCancelled:
      return "cancelled";
  }
  return "invalid";
}

std::string Error::describe() const {
  return std::string(to_string(code)) + ": " + message;
}

}  // namespace fairlead
