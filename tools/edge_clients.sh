# Clients in Go and JavaScript for edge_clients_tests. Sourced by ./dev, after install_packages.sh.

# Both are built once for each state of their lock files. When that is not possible (no network), the
# variable that names the client stays unset and its tests skip.

# ensure_command COMMAND PACKAGE
ensure_command() {
  if ! command -v "$1" >/dev/null; then
    say "installing $2, for there is no $1"
    install_packages "$2"
  fi
}

ensure_edge_go_client() {
  local source=$root/tests/edge/go built=$root/build/edge-go
  if ! cmp -s <(cat "$source"/go.sum "$source"/*.go) "$built/made-from.txt"; then
    say "building the Go client in ${built#"$root"/}"
    mkdir -p "$built"
    if ! { ensure_command go golang-go &&
      (cd "$source" && GOTOOLCHAIN=local GOFLAGS=-mod=readonly go build -o "$built/client" .) &&
      cat "$source"/go.sum "$source"/*.go >"$built/made-from.txt"; } >&2; then
      say "could not build it: its tests will be skipped"
      return
    fi
  fi
  export FAIRLEAD_EDGE_GO_CLIENT=$built/client
}

ensure_edge_node_client() {
  local source=$root/tests/edge/node built=$root/build/edge-node
  if ! cmp -s "$source/package-lock.json" "$built/installed.json"; then
    say "installing the JavaScript clients into ${built#"$root"/}"
    mkdir -p "$built"
    cp "$source"/package.json "$source"/package-lock.json "$built/"
    if ! { ensure_command npm npm && (cd "$built" && npm ci --silent --no-audit --no-fund) &&
      cp "$source/package-lock.json" "$built/installed.json"; } >&2; then
      say "could not install them: their tests will be skipped"
      return
    fi
  fi
  cp "$source/client.mjs" "$root/examples/node_worker.mjs" "$built/"
  export FAIRLEAD_EDGE_NODE=$built
}
