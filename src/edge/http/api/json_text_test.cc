#include "edge/http/api/json_text.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "edge/http/http_limits.h"

namespace fairlead::http {
namespace {

namespace json = boost::json;

std::string nested(size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

TEST(JsonText, TakesWhatAParserTakesAndNothingElse) {
  const std::vector<std::string> texts = {"",
                                          " ",
                                          "null",
                                          "nul",
                                          "nulll",
                                          "true",
                                          "false",
                                          "tru e",
                                          "0",
                                          "-0",
                                          "00",
                                          "01",
                                          "-",
                                          "1.",
                                          ".5",
                                          "1.5",
                                          "1e",
                                          "1e+",
                                          "1e5",
                                          "1E-5",
                                          "1e400",
                                          "1e12345678901",
                                          "-1.25e+10",
                                          "+1",
                                          "0x10",
                                          "Infinity",
                                          "1 2",
                                          "[]",
                                          "[ ]",
                                          "[1,]",
                                          "[,1]",
                                          "[1 2]",
                                          "[1,2]",
                                          "[",
                                          "]",
                                          "[}",
                                          "{}",
                                          "{ }",
                                          "{,}",
                                          R"({"a":1})",
                                          R"({"a":1,})",
                                          R"({"a" 1})",
                                          R"({"a":})",
                                          R"({a:1})",
                                          R"({1:1})",
                                          R"({"a":{"b":[{}]}})",
                                          R"("")",
                                          R"(")",
                                          R"("a)",
                                          R"('a')",
                                          R"("\n\t\"\\\/\b\f\r")",
                                          R"("\x")",
                                          R"("\)",
                                          R"("\u12")",
                                          R"("\u12g4")",
                                          R"("\u0041")",
                                          R"("\ud83d\ude00")",
                                          R"("\ud83d")",
                                          R"("\ude00")",
                                          R"("\ud83dx")",
                                          R"("\ud83d\u0041")",
                                          "\"a\nb\"",
                                          "\"\xc3\xa4\"",
                                          "\"\xc3\"",
                                          "\"\xff\"",
                                          "\t{\r\n\"a\" :\t[ 1 , 2 ] }\n",
                                          "// no\n1",
                                          "[1]x",
                                          nested(limits::kJsonDepthMax),
                                          nested(limits::kJsonDepthMax + 1),
                                          std::string("\"\0\"", 3),
                                          std::string("1\0", 2)};
  json::parse_options options;
  options.max_depth = limits::kJsonDepthMax;
  for (const std::string& text : texts) {
    boost::system::error_code error;
    json::parse(text, error, {}, options);
    EXPECT_EQ(is_json(text), !error) << text;
    EXPECT_EQ(outline_of(text).has_value(), !error) << text;
  }
}

TEST(JsonText, FindsAnOutermostMemberAndCountsWhatIsBesideIt) {
  const std::string text = R"({"a":{"context":1},"context": [1, [2, 3]] ,"b":[4,5]})";
  auto outline = outline_of(text, "context");
  ASSERT_TRUE(outline.has_value());
  EXPECT_EQ(outline->member, "[1, [2, 3]]");
  EXPECT_EQ(outline->values, 6u);
  EXPECT_EQ(outline_of(text)->values, 11u);
  EXPECT_EQ(outline_of(R"({"\u0063ontext":7})", "context")->member, "7");
  EXPECT_EQ(outline_of(R"(["context",1])", "context")->member, "");
}

TEST(JsonText, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(outline_of(R"({"a":x})").error().message, "syntax error at byte 5");
  EXPECT_EQ(outline_of(R"({"a":1)").error().message, "it ends too early at byte 6");
  EXPECT_EQ(outline_of("{} 1").error().message, "something follows the end at byte 3");
  EXPECT_EQ(outline_of("\"\xff\"").error().message, "it is not UTF-8");
  EXPECT_EQ(outline_of(R"({"c":1,"c":2})", "c").error().message, "c is there twice at byte 11");
}

TEST(JsonText, PlainTextHasNoBlanksAndHidesNothingBehindEscapes) {
  EXPECT_EQ(plain_json("{ \"a b\" :\n[ 1 , 1.50 ] }"), R"({"a b":[1,1.50]})");
  EXPECT_EQ(plain_json(R"("secret:\/\/x")"), R"("secret://x")");
  EXPECT_EQ(plain_json(R"("\u0073ecret")"), R"("secret")");
  EXPECT_EQ(plain_json(R"("\ud83d\ude00\u00e4\u20ac")"),
            "\"\xf0\x9f\x98\x80\xc3\xa4\xe2\x82\xac\"");
  EXPECT_EQ(plain_json(R"("\u0022\u005c\u000a\n\\\"")"), R"("\"\\\u000a\n\\\"")");
  for (const char* text : {R"("\u0022\u005c\u000a\n\\\"\/")", R"({"\ud83d\ude00":"\t \u0020"})"}) {
    EXPECT_EQ(json::parse(plain_json(text)), json::parse(text)) << text;
  }
}

}  // namespace
}  // namespace fairlead::http
