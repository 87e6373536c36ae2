#include "cli/verb.h"

#include <algorithm>

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

Dialect dialect_of(std::string program, const Build& build, std::vector<Verb> own) {
  const bool cordumctl = program == "cordumctl";
  std::vector<Verb> verbs = cordumctl ? joined({cordumctl_core_verbs(), cordumctl_flow_verbs()})
                                      : joined({job_verbs(), job_look_verbs(), dlq_verbs(),
                                                fleet_verbs(), server_verbs(), own});
  return {std::move(program), cordumctl, build, std::move(verbs)};
}

std::string help_of(const Dialect& dialect, std::string_view group) {
  std::string out = fmt::format("usage: {} {} …\n\n", dialect.program,
                                group.empty() ? "VERB" : std::string(group) + " VERB");
  const std::string begin = group.empty() ? "" : std::string(group) + " ";
  for (const Verb& verb : dialect.verbs) {
    if (!verb.name.starts_with(begin)) continue;
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
  std::string names, flags, common;
  for (const Flag& flag : common_flags(dialect)) common += fmt::format(" --{}", flag.name);
  for (const Verb& verb : dialect.verbs) {
    names += std::string(verb.name) + "\n";
    flags += fmt::format("    '{}') echo '", verb.name);
    for (const Flag& flag : verb.flags) flags += fmt::format("--{} ", flag.name);
    // What the program has itself talks to no server.
    flags += (verb.handler ? common : " --help") + "' ;;\n";
  }
  return fmt::format(R"text(# bash completion for {0}: source <({0} completion bash)
_{0}_names='{1}'
_{0}_flags() {{
  case $1 in
{2}    *) echo '{3}' ;;
  esac
}}
_{0}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} typed='' verb='' next='' name i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} == -* ]] || typed+="${{COMP_WORDS[i]}} "
  done
  while IFS= read -r name; do
    [[ $typed == "$name "* && ${{#name}} -gt ${{#verb}} ]] && verb=$name
    [[ $name == "$typed"* ]] && name=${{name#"$typed"}} && next+=" ${{name%% *}}"
  done <<<"$_{0}_names"
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$(_{0}_flags "$verb")" -- "$word"))
  elif [[ -n $next ]]; then
    COMPREPLY=($(compgen -W "$next" -- "$word"))
  fi
}}
complete -o default -F _{0} {0}
)text",
                     dialect.program, names, flags, common);
}

}  // namespace fairlead::cli
