#!/usr/bin/env bash
# Cases with redis-cli: redis_cli.sh CASE. The server is in EDGE_* variables.
set -euo pipefail

cli() { redis-cli -h 127.0.0.1 -p "$EDGE_RESP_PORT" "$@"; }

# expect WANTED COMMAND…
expect() {
  local wanted=$1 got
  shift
  got=$("$@" 2>&1)
  [[ $got == "$wanted" ]] || { echo "$*: got '$got', wanted '$wanted'"; exit 1; }
}

use() {
  expect PONG cli "$@" ping
  expect OK cli "$@" set ctx:1 'some text' ex 100
  expect 'some text' cli "$@" get ctx:1
  (($(cli "$@" ttl ctx:1) > 0)) || { echo "no time to live"; exit 1; }
  expect 1 cli "$@" del ctx:1
  expect '' cli "$@" get ctx:1
}

case $1 in
  commands)
    use
    use -3
    # Words on a terminal: redis-cli asks for COMMAND DOCS first.
    printf 'set ctx:2 x\nget ctx:2\n' | cli | tr '\n' ' ' | grep -q 'OK x'
    expect "ERR unknown command 'FLUSHALL'" cli FLUSHALL
    head -c 1000000 /dev/urandom >"${TMPDIR:-/tmp}/edge-blob.$$"
    expect OK cli -x set res:big <"${TMPDIR:-/tmp}/edge-blob.$$"
    expect 1000000 cli strlen res:big
    rm "${TMPDIR:-/tmp}/edge-blob.$$"
    ;;
  token) use --no-auth-warning -a s3cret ;;
  user_password) use --no-auth-warning --user ann --pass 'p w' ;;
  tls) use --tls --cacert "$EDGE_CA" ;;
  *) exit 2 ;;
esac
echo passed
