// `fairlead doctor --fix` where there is no server: it offers to start one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/server_process.h"
#include "tests/edge/loopback.h"

namespace fairlead::app {
namespace {

using testing::HasSubstr;

class DoctorFix : public testing::Test {
 protected:
  // `fairlead` on the path is the program, and notes which process it is.
  DoctorFix() {
    std::filesystem::create_directory(folder_ / "bin");
    folder_.write("bin/fairlead",
                  "#!/bin/sh\necho $$ >" + (folder_ / "pid") + "\nexec " + program() + " \"$@\"\n");
    std::filesystem::permissions(folder_ / "bin/fairlead", std::filesystem::perms::owner_all);
  }
  ~DoctorFix() override {
    if (pid_t server = started()) ::kill(server, SIGKILL);
  }

  Ended doctor(const std::string& answer) {
    const std::string place = "127.0.0.1:" + std::to_string(port_);
    edge::Child child({"sh", "-c",
                       "cd " + (folder_ / "bin") + " && exec " + program() +
                           " doctor --fix --server http://" + place},
                      {{"PATH", (folder_ / "bin") + ":" + std::getenv("PATH")},
                       {"FAIRLEAD_DATA", folder_ / "data"},
                       {"FAIRLEAD_LISTEN_API", place},
                       {"FAIRLEAD_LISTEN_WORKERS", "127.0.0.1:0"},
                       {"FAIRLEAD_LISTEN_PAYLOADS", "127.0.0.1:0"},
                       {"FAIRLEAD_LISTEN_METRICS", "127.0.0.1:0"}});
    child.say(answer);
    child.close_input();
    const int status = child.wait();
    return {status, child.output()};
  }
  // 0: none.
  pid_t started() const {
    pid_t server = 0;
    std::ifstream(folder_ / "pid") >> server;
    return server;
  }

  Folder folder_;
  const uint16_t port_ = edge::Loopback().port();  // free again
};

TEST_F(DoctorFix, AServerIsStartedWhenToldTo) {
  Ended ended = doctor("y\n");
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr(" >>fairlead.log 2>&1 &\nrun it now?"));
  EXPECT_THAT(ended.output, HasSubstr("is ready"));
  EXPECT_NE(started(), 0);
}

TEST_F(DoctorFix, NothingIsRunWithoutAYes) {
  for (const char* answer : {"n\n", "\n", "a\n", ""}) {
    Ended ended = doctor(answer);
    EXPECT_EQ(ended.status, 1) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("no server at"));
    EXPECT_EQ(started(), 0);
  }
}

}  // namespace
}  // namespace fairlead::app
