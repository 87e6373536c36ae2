#include "runtime/child_process.h"

#include <csignal>
#include <fstream>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

namespace fairlead {
namespace {

std::string read_all(int descriptor) {
  std::string text;
  char buffer[4096];
  for (;;) {
    pollfd waiting{descriptor, POLLIN, 0};
    ::poll(&waiting, 1, 10'000);
    ssize_t count = ::read(descriptor, buffer, sizeof(buffer));
    if (count <= 0) break;
    text.append(buffer, static_cast<size_t>(count));
  }
  ::close(descriptor);
  return text;
}

ChildSpec shell(std::string script) {
  return {"/bin/sh", {"sh", "-c", std::move(script)}, {}, {}};
}

ChildEnd wait_for(ChildProcess& child) {
  // The pipe's end comes with the program's.
  for (;;) {
    if (auto end = child.poll()) return *end;
    siginfo_t about{};
    ::waitid(P_PID, static_cast<id_t>(child.id()), &about, WEXITED | WNOWAIT);
  }
}

TEST(ChildProcess, ReadsAFileAndWritesToThreePipes) {
  const std::string path = testing::TempDir() + "child_input";
  std::ofstream(path) << "given";
  ChildSpec spec = shell("cat; echo error >&2; echo progress >&3; printf $NAMED");
  spec.input_path = path;
  spec.variables = {{"NAMED", "variable"}};
  auto child = ChildProcess::start(spec);
  ASSERT_TRUE(child.has_value()) << child.error().message;
  EXPECT_EQ(read_all(child->take_output()), "givenvariable");
  EXPECT_EQ(read_all(child->take_errors()), "error\n");
  EXPECT_EQ(read_all(child->take_progress()), "progress\n");
  EXPECT_EQ(wait_for(*child).exit_code, 0);
}

TEST(ChildProcess, TellsExitCodesAndSignalsApart) {
  auto exits = ChildProcess::start(shell("exit 75"));
  EXPECT_EQ(wait_for(*exits).exit_code, 75);
  auto dies = ChildProcess::start(shell("kill -9 $$"));
  EXPECT_EQ(wait_for(*dies).signal, SIGKILL);
}

TEST(ChildProcess, GrandchildrenDieWithIt) {
  // The grandchild holds the output open: its end is the end of the pipe.
  auto child = ChildProcess::start(shell("sleep 1000 & echo $!"));
  ASSERT_TRUE(child.has_value());
  wait_for(*child);
  EXPECT_NE(read_all(child->take_output()), "");
}

TEST(ChildProcess, ASignalReachesTheWholeGroup) {
  auto child = ChildProcess::start(shell("sleep 1000"));
  ASSERT_TRUE(child.has_value());
  child->signal(SIGTERM);
  EXPECT_EQ(wait_for(*child).signal, SIGTERM);
}

TEST(ChildProcess, GetsNoDescriptorsOfOurs) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);  // without close-on-exec
  auto child = ChildProcess::start(shell("ls /proc/self/fd | wc -l"));
  // 0 to 3, and the one with which ls reads the folder.
  EXPECT_EQ(read_all(child->take_output()), "5\n");
  wait_for(*child);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST(ChildProcess, SaysThatAProgramCannotBeRun) {
  EXPECT_EQ(find_program("no-such-program-here").error().message,
            "there is no program 'no-such-program-here' in PATH");
  EXPECT_FALSE(find_program("/tmp").has_value());
  EXPECT_EQ(find_program("sh").value().substr(find_program("sh")->rfind('/')), "/sh");
  const std::string path = testing::TempDir() + "no_interpreter";
  std::ofstream(path) << "#!/no/such/interpreter\n";
  ASSERT_EQ(::system(("chmod +x " + path).c_str()), 0);
  auto child = ChildProcess::start({path, {path}, {}, {}});
  ASSERT_FALSE(child.has_value());
  EXPECT_EQ(child.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace fairlead
