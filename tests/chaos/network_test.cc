#include "tests/chaos/network.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/chaos/node.h"
#include "tests/load/reactor.h"

namespace fairlead::chaos {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr int kWell = 0;
constexpr int kNotHere = 77;

std::string script() {
  const char* source = std::getenv("FAIRLEAD_SOURCE_DIR");
  return (std::filesystem::path(source ? source : ".") / "tests/chaos/echo.py").string();
}

// Two processes that talk all the time: whether they do, and do not while they are cut off. In a
// process of its own, since it may leave for another namespace.
int talk(load::Reactor& context, std::unique_ptr<Network> network) {
  if (!network) return kNotHere;
  std::string folder = (std::filesystem::temp_directory_path() / "fairlead-talk-XXXXXX").string();
  if (!::mkdtemp(folder.data())) return 2;
  const std::string heard = folder + "/heard";
  const load::Endpoint served = network->add("server");
  network->add("asker");
  const load::Endpoint way = network->route("asker", "server");
  auto words = [](const char* what, const load::Endpoint& place) {
    return std::vector<std::string>{"python3", "-B",       script(),
                                    what,      place.host, std::to_string(place.port)};
  };
  Node server(*network, "server", words("serve", served), folder + "/server");
  Node asker(*network, "asker", words("ask", way), heard);
  asker.start();  // the first to call, so that it has to call again
  server.start();

  auto answers = [&] {
    std::error_code missing;
    const auto size = std::filesystem::file_size(heard, missing);
    return missing ? 0 : size;
  };
  auto more_answers_within = [&](SteadyClock::duration patience) {
    const auto before = answers();
    const auto until = SteadyClock::now() + patience;
    while (answers() < before + 3) {
      if (SteadyClock::now() > until) return false;
      context.run_for(10ms);
    }
    return true;
  };
  auto cut_and_mend = [&] {
    if (!more_answers_within(20s)) return 3;
    network->cut("asker", "server");
    if (more_answers_within(1s)) return 4;
    network->mend("asker", "server");
    return more_answers_within(20s) ? kWell : 5;
  };
  const int outcome = cut_and_mend();
  std::filesystem::remove_all(folder);
  return outcome;
}

TEST(NetworkDeathTest, NamespacesAreCutAndMended) {
  auto well_or_not_here = [](int status) {
    return WIFEXITED(status) && (WEXITSTATUS(status) == kWell || WEXITSTATUS(status) == kNotHere);
  };
  EXPECT_EXIT(
      {
        load::Reactor context;
        std::_Exit(talk(context, make_namespaces()));
      },
      well_or_not_here, "");
}

TEST(NetworkDeathTest, ProxiesAreCutAndMended) {
  EXPECT_EXIT(
      {
        load::Reactor context;
        std::_Exit(talk(context, make_proxies(context)));
      },
      testing::ExitedWithCode(kWell), "");
}

}  // namespace
}  // namespace fairlead::chaos
