# Installs the packages of tools/packages.txt that are missing. Sourced by ./dev.

listed_packages() {
  sed -e 's/#.*//' "$root/tools/packages.txt" | xargs -n1
}

missing_packages() {
  local installed
  # dpkg-query fails when one is unknown to it, and that is what we want to learn.
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $(listed_packages) 2>/dev/null |
    sed -n 's/^installed //p') || true
  comm -23 <(listed_packages | sort -u) <(sort <<<"$installed")
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

ensure_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  [[ ${#missing[@]} -eq 0 ]] && return
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  install_packages "${missing[@]}"
}
