// A server to measure, on a folder that is gone at the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"
#include "tests/load/server_process.h"

namespace fairlead::bench {

struct OwnServer {
  OwnServer() = default;
  ~OwnServer() {
    server.kill();
    std::filesystem::remove_all(folder);
  }
  OwnServer(const OwnServer&) = delete;
  OwnServer& operator=(const OwnServer&) = delete;

  std::string file(const std::string& name) const { return folder + "/" + name; }

  static std::string make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "fairlead-bench-XXXXXX").string();
    check(mkdtemp(name.data()) != nullptr, "a folder can be made");
    return name;
  }

  std::string folder = make_folder();
  load::ServerProcess server{
      load::fairlead_program(),
      file("data"),
      file("log"),
      {"--rate-limit", "0", "--public-rate-limit", "0", "--log-level", "error"}};
};

}  // namespace fairlead::bench
