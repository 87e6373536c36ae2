#include "worker/job_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <google/protobuf/util/json_util.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace fairlead::worker {

namespace fs = std::filesystem;
namespace json = boost::json;

JobFolder::~JobFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<void> JobFolder::make(const std::string& place, const cap::JobRequest& request,
                             std::string_view payload) {
  std::string pattern = place + "/job-XXXXXX";
  if (!::mkdtemp(pattern.data())) {
    return fail(ErrorCode::kUnavailable, pattern + ": " + std::strerror(errno));
  }
  path_ = pattern;

  if (auto done = write("FAIRLEAD_PAYLOAD_FILE", "payload", payload); !done) return done;
  payload_path_ = variables_.back().second;
  std::string text;
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  (void)google::protobuf::util::MessageToJsonString(request, &text, options);
  if (auto done = write("FAIRLEAD_REQUEST_FILE", "request.json", text); !done) return done;

  boost::system::error_code no_json;
  const json::value value = json::parse(payload, no_json);
  if (no_json || !value.is_object()) return {};
  if (const json::value* prompt = value.get_object().if_contains("prompt");
      prompt && prompt->is_string()) {
    if (auto done = write("FAIRLEAD_PROMPT_FILE", "prompt", prompt->get_string()); !done) {
      return done;
    }
  }
  if (const json::value* context = value.get_object().if_contains("context")) {
    return write("FAIRLEAD_CONTEXT_FILE", "context.json", json::serialize(*context));
  }
  return {};
}

Result<void> JobFolder::write(const char* variable, const char* name, std::string_view bytes) {
  const std::string path = path_ + "/" + name;
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return fail(ErrorCode::kUnavailable, path + ": " + std::strerror(errno));
  variables_.emplace_back(variable, path);
  return {};
}

}  // namespace fairlead::worker
