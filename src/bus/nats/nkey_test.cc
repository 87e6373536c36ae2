#include "bus/nats/nkey.h"

#include <gtest/gtest.h>

namespace fairlead::bus::nats {
namespace {

// A pair as NATS' own tools made it.
constexpr std::string_view kSeed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
constexpr std::string_view kPublic = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";

TEST(Nkey, HasThePublicKeyOfItsSeed) {
  EXPECT_EQ(nkey_public(kSeed), kPublic);
  EXPECT_EQ(nkey_public(" " + std::string(kSeed) + "\n"), kPublic);
}

TEST(Nkey, IsRefusedWhenItIsNotAUsersSeed) {
  std::string changed(kSeed);
  changed[10] = changed[10] == 'A' ? 'B' : 'A';
  for (std::string_view wrong : {std::string_view(), std::string_view("SUAC"), kPublic,
                                 std::string_view(changed), kSeed.substr(1)}) {
    EXPECT_EQ(nkey_public(wrong).error().code, ErrorCode::kInvalid) << wrong;
  }
}

}  // namespace
}  // namespace fairlead::bus::nats
