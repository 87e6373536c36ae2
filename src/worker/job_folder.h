// The files that a program is given with its job, in a folder of their own.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cordum/agent/v1/job.pb.h"

namespace fairlead::worker {

namespace cap = cordum::agent::v1;

class JobFolder {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  JobFolder() = default;
  JobFolder(const JobFolder&) = delete;
  JobFolder& operator=(const JobFolder&) = delete;
  // Removes the folder with all that the program has put there.
  ~JobFolder();

  // Makes the folder, within `place`, and the files. kUnavailable: there is no room.
  Result<void> make(const std::string& place, const cap::JobRequest& request,
                    std::string_view payload);

  const std::string& payload_path() const { return payload_path_; }
  // The variables that name the files.
  const Variables& variables() const { return variables_; }

 private:
  Result<void> write(const char* variable, const char* name, std::string_view bytes);

  std::string path_;
  std::string payload_path_;
  Variables variables_;
};

}  // namespace fairlead::worker
