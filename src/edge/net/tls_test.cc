#include "edge/net/tls.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace fairlead::edge {
namespace {

TEST(Tls, NamesTheFileThatItCannotUse) {
  const auto missing = TlsContext::load({.certificate = "no-such.pem", .key = "no-such.key"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "cannot use the certificate no-such.pem: No such file or directory");

  const std::string path = testing::TempDir() + "not-a-certificate.pem";
  std::ofstream(path) << "nonsense";
  const auto broken = TlsContext::load({.certificate = path, .key = path});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, "cannot use the certificate " + path + ": no start line");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace fairlead::edge
