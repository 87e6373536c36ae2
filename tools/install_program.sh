# ./dev install and ./dev uninstall: the program under a prefix. Sourced by ./dev.

installed_config=etc/fairlead
installed_completions=share/bash-completion/completions

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

  install_completion fairlead
  [[ $(readlink "$link") != fairlead ]] || install_completion cordumctl

  for file in fairlead.yaml pools.yaml timeouts.yaml; do
    if [[ -e $prefix/$installed_config/$file ]]; then
      say "left $prefix/$installed_config/$file as it is"
    else
      as_owner install -D -m 644 "config/$file" "$prefix/$installed_config/$file"
      say "installed $prefix/$installed_config/$file"
    fi
  done
  say "try: $prefix/bin/fairlead up --config $prefix/$installed_config/fairlead.yaml"
}

# install_completion NAME: for the program as it is installed under that name.
install_completion() {
  local name=$1 file
  file=$(mktemp)
  "$prefix/bin/$name" completion bash >"$file"
  as_owner install -D -m 644 "$file" "$prefix/$installed_completions/$name"
  rm -f "$file"
  say "installed $prefix/$installed_completions/$name"
}

command_uninstall() {
  local prefix file files=(bin/fairlead "$installed_completions/fairlead")
  read_prefix "$@"
  if [[ $(readlink "$prefix/bin/cordumctl") == fairlead ]]; then
    files+=(bin/cordumctl "$installed_completions/cordumctl")
  fi
  for file in "${files[@]}"; do
    [[ -e $prefix/$file || -L $prefix/$file ]] || continue
    as_owner rm -f "$prefix/$file"
    say "removed $prefix/$file"
  done
  for file in fairlead.yaml pools.yaml timeouts.yaml; do
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
