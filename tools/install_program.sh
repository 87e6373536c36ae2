# ./dev install and ./dev uninstall: the program under a prefix. Sourced by ./dev.

installed_config=etc/fairlead
installed_completion=share/bash-completion/completions/fairlead

read_prefix() {
  prefix=/usr/local
  while [[ $# -gt 0 ]]; do
    case $1 in
      --prefix) prefix=${2-}; shift 2 || fail "--prefix needs a folder" ;;
      --prefix=*) prefix=${1#*=}; shift ;;
      *) fail "unknown word '$1': --prefix DIR is all there is" ;;
    esac
  done
  [[ -n $prefix ]] || fail "--prefix needs a folder"
  [[ $prefix == /* ]] || prefix=$PWD/$prefix
}

# Under /usr/local only root may write.
as_owner() {
  local folder=$prefix
  while [[ ! -d $folder ]]; do folder=$(dirname "$folder"); done
  if [[ -w $folder ]]; then "$@"; else sudo "$@"; fi
}

command_install() {
  local prefix program link file
  read_prefix "$@"
  ensure_build_packages
  build release fairlead
  program=$(program_path release fairlead)
  as_owner install -D -m 755 "$program" "$prefix/bin/fairlead"
  say "installed $prefix/bin/fairlead"

  link=$prefix/bin/cordumctl
  if [[ -e $link || -L $link ]] && [[ $(readlink "$link") != fairlead ]]; then
    say "left $link alone: it is not ours"
  else
    as_owner ln -sfn fairlead "$link"
    say "installed $link"
  fi

  # Not every build can complete words.
  file=$(mktemp)
  if "$program" completion bash >"$file" 2>/dev/null && [[ -s $file ]]; then
    as_owner install -D -m 644 "$file" "$prefix/$installed_completion"
    say "installed $prefix/$installed_completion"
  fi
  rm -f "$file"

  for file in fairlead.yaml pools.yaml; do
    if [[ -e $prefix/$installed_config/$file ]]; then
      say "left $prefix/$installed_config/$file as it is"
    else
      as_owner install -D -m 644 "config/$file" "$prefix/$installed_config/$file"
      say "installed $prefix/$installed_config/$file"
    fi
  done
  say "try: $prefix/bin/fairlead up --config $prefix/$installed_config/fairlead.yaml"
}

command_uninstall() {
  local prefix file
  read_prefix "$@"
  for file in bin/fairlead "$installed_completion"; do
    [[ -e $prefix/$file ]] || continue
    as_owner rm -f "$prefix/$file"
    say "removed $prefix/$file"
  done
  if [[ $(readlink "$prefix/bin/cordumctl") == fairlead ]]; then
    as_owner rm -f "$prefix/bin/cordumctl"
    say "removed $prefix/bin/cordumctl"
  fi
  for file in fairlead.yaml pools.yaml; do
    [[ -e $prefix/$installed_config/$file ]] || continue
    if cmp -s "config/$file" "$prefix/$installed_config/$file"; then
      as_owner rm -f "$prefix/$installed_config/$file"
      say "removed $prefix/$installed_config/$file"
    else
      say "left $prefix/$installed_config/$file: it was edited"
    fi
  done
  [[ -d $prefix/$installed_config ]] || return 0
  as_owner rmdir --ignore-fail-on-non-empty "$prefix/$installed_config"
}
