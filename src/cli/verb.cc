#include "cli/verb.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

namespace fairlead::cli {

namespace {

const std::vector<Flag> kCommon{
    {"server", "URL", "of the API (FAIRLEAD_API, http://127.0.0.1:8081)"},
    {"api-key", "KEY", "(FAIRLEAD_API_KEY)"},
    {"tenant", "NAME", "whose jobs (FAIRLEAD_TENANT)"},
    {"ca", "FILE", "authority that signed the server's certificate (FAIRLEAD_CA)"},
    {"insecure", "", "take any certificate"},
    {"output", "FORMAT", "table, json or id; also -o"},
    {"help", "", "this text"},
};

const std::vector<Flag> kCommonOfCordumctl{
    {"gateway", "URL", "of the API (CORDUM_GATEWAY, http://localhost:8081)"},
    {"api-key", "KEY", "(CORDUM_API_KEY)"},
    {"tenant", "NAME", "(CORDUM_TENANT_ID, default)"},
    {"cacert", "FILE", "authority of the gateway's certificate (CORDUM_TLS_CA)"},
    {"insecure", "", "take any certificate (CORDUM_TLS_INSECURE)"},
    {"help", "", "this text"},
};

std::vector<Verb> joined(std::initializer_list<std::vector<Verb>> tables) {
  std::vector<Verb> all;
  for (const std::vector<Verb>& table : tables) all.insert(all.end(), table.begin(), table.end());
  return all;
}

std::string flag_lines(std::span<const Flag> flags) {
  std::string out;
  for (const Flag& flag : flags) {
    const std::string name =
        fmt::format("--{}{}{}", flag.name, flag.value.empty() ? "" : " ", flag.value);
    out += fmt::format("  {:<24}{}\n", name, flag.help);
  }
  return out;
}

std::string lines_with(std::string_view program, std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    out += fmt::format("  {} {}\n", program, lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

}  // namespace

std::span<const Flag> common_flags(const Dialect& dialect) {
  return dialect.cordumctl ? kCommonOfCordumctl : kCommon;
}

std::span<const Verb> verbs_of(const Dialect& dialect) {
  static const std::vector<Verb> ours =
      joined({job_verbs(), dlq_verbs(), fleet_verbs(), server_verbs()});
  static const std::vector<Verb> theirs = cordumctl_verbs();
  return dialect.cordumctl ? theirs : ours;
}

std::string help_of(const Dialect& dialect) {
  std::string out = fmt::format("usage: {} VERB …\n\n", dialect.program);
  for (const Verb& verb : verbs_of(dialect)) {
    const std::string call =
        fmt::format("{}{}{}", verb.name, verb.words.empty() ? "" : " ", verb.words);
    out += call.size() < 26 ? fmt::format("  {:<26}{}\n", call, verb.help)
                            : fmt::format("  {}\n  {:<26}{}\n", call, "", verb.help);
  }
  out += "\nflags of every verb that talks to a server:\n" + flag_lines(common_flags(dialect));
  out += fmt::format("\n{} VERB --help shows a verb with examples.\n", dialect.program);
  if (!dialect.cordumctl) {
    out += "Exit codes: 0 done, 1 failed, 2 wrong words, 3 denied, 4 timed out.\n";
  }
  return out;
}

std::string help_of(const Dialect& dialect, const Verb& verb) {
  std::string out = fmt::format("usage: {} {}{}{} [flags]\n\n{}\n", dialect.program, verb.name,
                                verb.words.empty() ? "" : " ", verb.words, verb.help);
  if (!verb.flags.empty()) out += "\n" + flag_lines(verb.flags);
  out += "\nflags of every verb:\n" + flag_lines(common_flags(dialect));
  out += "\nexamples:\n" + lines_with(dialect.program, verb.examples);
  return out;
}

std::string bash_completion(const Dialect& dialect) {
  std::set<std::string_view> first;
  std::map<std::string_view, std::string> second;
  std::string flags;
  for (const Verb& verb : verbs_of(dialect)) {
    const size_t space = verb.name.find(' ');
    const std::string_view word = verb.name.substr(0, space);
    first.insert(word);
    if (space != verb.name.npos) {
      std::string& list = second[word];
      list += (list.empty() ? "" : " ") + std::string(verb.name.substr(space + 1));
    }
    flags += fmt::format("    '{}') echo '", verb.name);
    for (const Flag& flag : verb.flags) flags += fmt::format("--{} ", flag.name);
    flags += "' ;;\n";
  }
  std::string common, subverbs, words;
  for (const Flag& flag : common_flags(dialect)) common += fmt::format(" --{}", flag.name);
  for (const auto& [word, list] : second)
    subverbs += fmt::format("    {}) echo '{}' ;;\n", word, list);
  for (std::string_view word : first) words += (words.empty() ? "" : " ") + std::string(word);
  const std::string name = "_" + dialect.program;
  return fmt::format(R"(# bash completion for {0}: source <({0} completion bash)
{1}_verbs() {{
  case $1 in
{2}  esac
}}
{1}_flags() {{
  case $1 in
{3}  esac
}}
{1}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} first=${{COMP_WORDS[1]}} verbs
  verbs=$({1}_verbs "$first")
  if [[ $word == -* ]]; then
    local verb=$first
    [[ -n $verbs ]] && verb="$first ${{COMP_WORDS[2]}}"
    COMPREPLY=($(compgen -W "$({1}_flags "$verb"){4}" -- "$word"))
  elif [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "{5}" -- "$word"))
  elif [[ $COMP_CWORD -eq 2 && -n $verbs ]]; then
    COMPREPLY=($(compgen -W "$verbs" -- "$word"))
  fi
}}
complete -o default -F {1} {0}
)",
                     dialect.program, name, subverbs, flags, common, words);
}

}  // namespace fairlead::cli
