// Keys, rates, and who is let in.
#include <gtest/gtest.h>

#include "edge/http/gatekeeper.h"
#include "edge/http/keys.h"
#include "edge/http/rate_limit.h"

namespace fairlead::http {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow = WallTime(1'700'000'000s);
const MonotonicTime kTick{};

TEST(ApiKeys, AreReadFromWordsAndJson) {
  ApiKeys keys;
  ASSERT_TRUE(keys.add_single("root").has_value());
  ASSERT_TRUE(keys.add_all("acme:k1:viewer:bob, k2").has_value());
  ASSERT_TRUE(
      keys.add_all(R"([{"key":"k3","tenant":"t","role":"user","expires_at":1}])").has_value());
  ASSERT_TRUE(keys.add_all(R"({"keys":["k4"]})").has_value());
  EXPECT_TRUE(keys.find(ApiKeys::hash_of("root"), kNow)->all_tenants);
  EXPECT_EQ(keys.find(ApiKeys::hash_of("k1"), kNow)->tenant, TenantId("acme"));
  EXPECT_EQ(keys.find(ApiKeys::hash_of("k1"), kNow)->role, Role::kViewer);
  EXPECT_EQ(keys.find(ApiKeys::hash_of("k1"), kNow)->principal, "bob");
  EXPECT_EQ(keys.find(ApiKeys::hash_of("k2"), kNow)->role, Role::kAdmin);
  EXPECT_EQ(keys.find(ApiKeys::hash_of("k3"), kNow), nullptr) << "it has expired";
  EXPECT_NE(keys.find(ApiKeys::hash_of("k4"), kNow), nullptr);
  EXPECT_EQ(keys.find(ApiKeys::hash_of("k5"), kNow), nullptr);
}

TEST(ApiKeys, AWrongEntryIsNamed) {
  for (const char* text : {"a:k:king", "[{\"tenant\":\"t\"}]", "[1]", "{\"keys\":[", "k,k",
                           "a:b:admin:c:d", "a:b:admin:\xff", "\xff:b"}) {
    ApiKeys keys;
    auto added = keys.add_all(text);
    ASSERT_FALSE(added.has_value()) << text;
    EXPECT_NE(added.error().message.find("API keys"), std::string::npos) << text;
  }
}

TEST(RateLimiter, LetsABurstThroughAndThenARate) {
  RateLimiter limiter({2, 3});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.take("a", kTick), Duration(0));
  Duration wait = limiter.take("a", kTick);
  EXPECT_GT(wait, 400ms);
  EXPECT_LE(wait, 501ms);
  EXPECT_EQ(limiter.take("b", kTick), Duration(0)) << "another caller has its own";
  EXPECT_EQ(limiter.take("a", kTick + wait), Duration(0));
}

TEST(RateLimiter, RemembersABoundedNumberOfCallers) {
  RateLimiter limiter({1, 1});
  for (size_t i = 0; i < 3 * limits::kHttpRateBucketsMax; ++i) {
    limiter.take(std::to_string(i), kTick);
  }
  EXPECT_LE(limiter.callers(), limits::kHttpRateBucketsMax);
}

class GatekeeperTest : public testing::Test {
 protected:
  GatekeeperTest() {
    ApiKeys keys;
    (void)keys.add_single("root");
    (void)keys.add_all("acme:k1:viewer:bob");
    keys_ = std::make_shared<const ApiKeys>(std::move(keys));
  }
  static Request request(Pairs headers) {
    Request made;
    made.headers = std::move(headers);
    return made;
  }
  static int status(const auto& answer) { return answer ? 200 : answer.error().status; }

  std::shared_ptr<const ApiKeys> keys_;
  std::shared_ptr<const ApiKeys> none_ = std::make_shared<const ApiKeys>();
  Peer here_{"127.0.0.1", true};
  Peer there_{"10.0.0.9", false};
};

TEST_F(GatekeeperTest, WithoutKeysOnlyThisMachineAndItsOwnPagesAreServed) {
  Gatekeeper open({}, none_);
  EXPECT_EQ(status(open.check_origin(request({{"host", "localhost:8081"}}), here_)), 200);
  EXPECT_EQ(status(open.check_origin(request({{"host", "[::1]:8081"}}), here_)), 200);
  EXPECT_EQ(status(open.check_origin(request({{"host", "localhost:8081"}}), there_)), 403);
  EXPECT_EQ(status(open.check_origin(request({{"host", "evil.example"}}), here_)), 403);
  Pairs own{{"host", "localhost:8081"}, {"origin", "http://localhost:8081"}};
  EXPECT_EQ(status(open.check_origin(request(own), here_)), 200);
  Pairs other_port{{"host", "localhost:8081"}, {"origin", "http://localhost:3000"}};
  EXPECT_EQ(status(open.check_origin(request(other_port), here_)), 403);
  Pairs evil{{"host", "localhost:8081"}, {"origin", "https://evil.example"}};
  EXPECT_EQ(status(open.check_origin(request(evil), here_)), 403);
  Pairs cross{{"host", "localhost:8081"}, {"sec-fetch-site", "cross-site"}};
  EXPECT_EQ(status(open.check_origin(request(cross), here_)), 403);
  auto caller = open.admit(request({}), here_, true, kNow, kTick);
  ASSERT_TRUE(caller.has_value());
  EXPECT_EQ(caller->role, Role::kAdmin);
  EXPECT_TRUE(caller->all_tenants);
}

TEST_F(GatekeeperTest, AHostIsTheSameInCapitals) {
  Gatekeeper open({}, none_);
  EXPECT_EQ(status(open.check_origin(request({{"host", "LOCALHOST:8081"}}), here_)), 200);
  Pairs own{{"host", "LocalHost:8081"}, {"origin", "http://localhost:8081"}};
  EXPECT_EQ(status(open.check_origin(request(own), here_)), 200);
}

TEST_F(GatekeeperTest, WithoutKeysAnAddressIsHeldUpOnlyWhenThatWasAskedFor) {
  Gatekeeper free({}, none_);
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(status(free.admit(request({}), here_, true, kNow, kTick)), 200);
  }
  AccessSettings settings;
  settings.open_rate = {1, 2};
  settings.open_public_rate = {1, 1};
  Gatekeeper held(settings, none_);
  for (int expected : {200, 200, 429}) {
    EXPECT_EQ(status(held.admit(request({}), here_, true, kNow, kTick)), expected);
  }
  for (int expected : {200, 429}) {
    EXPECT_EQ(status(held.admit(request({}), here_, false, kNow, kTick)), expected);
  }
  Peer other{"127.0.0.2", true};
  EXPECT_EQ(status(held.admit(request({}), other, true, kNow, kTick)), 200);
}

TEST_F(GatekeeperTest, ALongPrincipalIsRefusedAndNotCut) {
  Gatekeeper open({}, none_);
  Pairs longest{{"x-principal-id", std::string(limits::kTenantBytesMax, 'p')}};
  EXPECT_EQ(status(open.admit(request(longest), here_, true, kNow, kTick)), 200);
  Pairs longer{{"x-principal-id", std::string(limits::kTenantBytesMax + 1, 'p')}};
  EXPECT_EQ(status(open.admit(request(longer), here_, true, kNow, kTick)), 400);
}

TEST_F(GatekeeperTest, WithKeysACallerIsWhoItsKeySays) {
  Gatekeeper gatekeeper({}, keys_);
  EXPECT_EQ(status(gatekeeper.admit(request({}), there_, true, kNow, kTick)), 401);
  EXPECT_EQ(status(gatekeeper.admit(request({{"x-api-key", "no"}}), there_, true, kNow, kTick)),
            401);
  EXPECT_EQ(status(gatekeeper.admit(request({}), there_, false, kNow, kTick)), 200);
  auto bob = gatekeeper.admit(request({{"authorization", "Bearer k1"}}), there_, true, kNow, kTick);
  ASSERT_TRUE(bob.has_value());
  EXPECT_EQ(bob->tenant, TenantId("acme"));
  EXPECT_EQ(bob->role, Role::kViewer);
  EXPECT_EQ(bob->principal, "bob");
  EXPECT_TRUE(bob->principal_bound);
  EXPECT_FALSE(bob->all_tenants);
  Pairs other{{"x-api-key", "k1"}, {"x-tenant-id", "globex"}};
  EXPECT_EQ(status(gatekeeper.admit(request(other), there_, true, kNow, kTick)), 403);
  Pairs named{{"x-api-key", "root"}, {"x-cordum-tenant", "globex"}};
  auto root = gatekeeper.admit(request(named), there_, true, kNow, kTick);
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->tenant, TenantId("globex"));
  EXPECT_FALSE(root->all_tenants);
}

TEST_F(GatekeeperTest, AKeyOfAllTenantsStaysOneWhicheverItActsFor) {
  Gatekeeper gatekeeper({}, keys_);
  for (const Pairs& shown :
       {Pairs{{"x-api-key", "root"}}, Pairs{{"x-api-key", "root"}, {"x-tenant-id", "globex"}}}) {
    EXPECT_TRUE(gatekeeper.admit(request(shown), there_, true, kNow, kTick)->cross_tenant);
  }
  for (const Pairs& shown :
       {Pairs{{"x-api-key", "k1"}}, Pairs{{"x-api-key", "k1"}, {"x-tenant-id", "acme"}}}) {
    EXPECT_FALSE(gatekeeper.admit(request(shown), there_, true, kNow, kTick)->cross_tenant);
  }
  EXPECT_FALSE(gatekeeper.admit(request({}), there_, false, kNow, kTick)->cross_tenant);
  Gatekeeper open({}, std::make_shared<const ApiKeys>());
  EXPECT_TRUE(open.admit(request({}), there_, true, kNow, kTick)->cross_tenant);
}

TEST_F(GatekeeperTest, AKeyStillHoldsWhileItGivesTheSameRights) {
  Gatekeeper gatekeeper({}, keys_);
  auto replace = [&](const char* text) {
    ApiKeys keys;
    EXPECT_TRUE(keys.add_all(text).has_value());
    gatekeeper.set_keys(std::make_shared<const ApiKeys>(std::move(keys)));
  };
  Request bob = request({{"x-api-key", "k1"}});
  bob.caller = *gatekeeper.admit(bob, there_, true, kNow, kTick);
  EXPECT_TRUE(gatekeeper.still_holds(bob, kNow));
  replace("acme:k1:viewer:alice");
  EXPECT_TRUE(gatekeeper.still_holds(bob, kNow)) << "it sees and may do the same";
  for (const char* other : {"acme:k1:operator", "globex:k1:viewer", "acme:k2:viewer",
                            R"([{"key":"k1","tenant":"acme","role":"viewer",)"
                            R"("allow_cross_tenant":true}])"}) {
    replace(other);
    EXPECT_FALSE(gatekeeper.still_holds(bob, kNow)) << other;
  }
  Gatekeeper open({}, none_);
  Request anybody = request({});
  anybody.caller = *open.admit(anybody, here_, true, kNow, kTick);
  EXPECT_TRUE(open.still_holds(anybody, kNow));
  open.set_keys(keys_);
  EXPECT_FALSE(open.still_holds(anybody, kNow));
}

TEST_F(GatekeeperTest, AKeyMayComeAsASubprotocol) {
  // "k1" as base64url.
  EXPECT_EQ(shown_key(request({{"sec-websocket-protocol", "cordum-api-key, azE"}})), "k1");
  EXPECT_EQ(shown_key(request({{"sec-websocket-protocol", "cordum-api-key.azE"}})), "k1");
  EXPECT_EQ(shown_key(request({{"sec-websocket-protocol", "other"}})), "");
}

TEST_F(GatekeeperTest, TooManyCallsAreToldWhenToComeBack) {
  AccessSettings settings;
  settings.rate = {1, 1};
  settings.public_rate = {1, 1};
  Gatekeeper gatekeeper(settings, keys_);
  Request good = request({{"x-api-key", "k1"}});
  EXPECT_EQ(status(gatekeeper.admit(good, there_, true, kNow, kTick)), 200);
  auto limited = gatekeeper.admit(good, there_, true, kNow, kTick);
  ASSERT_FALSE(limited.has_value());
  EXPECT_EQ(limited.error().status, 429);
  EXPECT_EQ(limited.error().headers[0].first, "Retry-After");
  EXPECT_EQ(status(gatekeeper.admit(request({}), there_, true, kNow, kTick)), 401);
  EXPECT_EQ(status(gatekeeper.admit(request({}), there_, true, kNow, kTick)), 429)
      << "guessing is slow";
}

TEST_F(GatekeeperTest, PagesOfAllowedOriginsMayCall) {
  AccessSettings settings;
  settings.allowed_origins = {"https://ui.example"};
  Gatekeeper strict(settings, keys_);
  Pairs ui{{"host", "api.example"}, {"origin", "https://ui.example"}};
  Pairs evil{{"host", "api.example"}, {"origin", "https://evil.example"}};
  Pairs local{{"host", "api.example"}, {"origin", "http://localhost:3000"}};
  EXPECT_EQ(status(strict.check_origin(request(ui), there_)), 200);
  EXPECT_EQ(status(strict.check_origin(request(evil), there_)), 403);
  EXPECT_EQ(status(strict.check_origin(request(local), there_)), 403);
  EXPECT_EQ(status(Gatekeeper({}, keys_).check_origin(request(local), there_)), 200);
  Pairs headers;
  strict.add_cross_origin(request(ui), headers);
  EXPECT_EQ(headers[0].second, "https://ui.example");
  Pairs nothing;
  strict.add_cross_origin(request(evil), nothing);
  EXPECT_TRUE(nothing.empty());
  Reply preflight = strict.preflight(request(ui));
  EXPECT_EQ(preflight.status, 204);
  EXPECT_NE(preflight.headers[0].second.find("PATCH"), std::string::npos);
  for (const char* name : {"X-Principal-Role", "X-Idempotency-Key", "X-Tenant-ID"}) {
    EXPECT_NE(preflight.headers[1].second.find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace fairlead::http
