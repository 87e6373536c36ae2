# Installs the packages of tools/packages.txt that are missing. Sourced by ./dev.

listed_packages() {
  sed -e 's/#.*//' "$root/tools/packages.txt" | xargs -n1 | sort -u
}

# What building and starting the server needs.
build_packages() {
  sed -e '/^# ---/,$d' -e 's/#.*//' "$root/tools/packages.txt" | xargs -n1 | sort -u
}

# missing_packages LIST, where LIST names a function above.
missing_packages() {
  local installed
  # dpkg-query fails when one is unknown to it, and that is what we want to learn.
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $("$1") 2>/dev/null |
    sed -n 's/^installed //p') || true
  comm -23 <("$1") <(sort <<<"$installed")
}

# A package that brings a server must not start it: while policy-rc.d says 101, Debian's scripts
# leave services alone. A policy that is already there stays.
install_packages() {
  local as_root=()
  if [[ $(id -u) -ne 0 ]]; then
    say "using sudo for apt-get"
    as_root=(sudo)
  fi
  "${as_root[@]}" bash -euc '
    policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
      trap "rm -f $policy" EXIT
      printf "#!/bin/sh\nexit 101\n" >$policy
      chmod 755 $policy
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null
  ' install "$@" >&2
}

ensure_packages() { ensure_listed listed_packages; }
ensure_build_packages() { ensure_listed build_packages; }

ensure_listed() {
  local missing
  mapfile -t missing < <(missing_packages "$1")
  [[ ${#missing[@]} -eq 0 ]] && return
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  install_packages "${missing[@]}"
}
