#include "edge/net/credentials.h"

#include <gtest/gtest.h>

namespace fairlead::edge {
namespace {

TEST(Credentials, ComparesWholeSecrets) {
  EXPECT_TRUE(same_secret("", ""));
  EXPECT_TRUE(same_secret("secret", "secret"));
  EXPECT_FALSE(same_secret("secret", "Secret"));
  EXPECT_FALSE(same_secret("secret", "secret "));
  EXPECT_FALSE(same_secret("secret", ""));
}

TEST(Credentials, AdmitsNobodyByWhatIsNotSet) {
  const Credentials none;
  EXPECT_FALSE(none.required());
  EXPECT_FALSE(none.admits_token(""));
  EXPECT_FALSE(none.admits_user("", ""));
  const Credentials password_only{.password = "pw"};
  EXPECT_TRUE(password_only.required());
  EXPECT_TRUE(password_only.admits_user("", "pw"));
  EXPECT_FALSE(password_only.admits_user("ann", "pw"));
}

TEST(Credentials, AreNeededWhereOthersCanConnect) {
  for (const char* own : {"127.0.0.1", "127.8.8.8", "::1"}) {
    EXPECT_TRUE(check_exposure(own, {})) << own;
  }
  for (const char* shared : {"0.0.0.0", "::", "10.1.2.3", "localhost", "128.0.0.1"}) {
    EXPECT_FALSE(check_exposure(shared, {})) << shared;
    EXPECT_TRUE(check_exposure(shared, {.token = "t"})) << shared;
  }
}

}  // namespace
}  // namespace fairlead::edge
