# `./dev cluster`: NATS, Redis and three replicas on free ports, with a demo. Sourced by ./dev.

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# await_line FILE TEXT: waits up to half a minute for a line with the text.
await_line() {
  local i
  for ((i = 0; i < 300; i++)); do
    grep -q "$2" "$1" 2>/dev/null && return
    sleep 0.1
  done
  cat "$1" >&2
  fail "no \"$2\" in $1"
}

command_cluster() {
  local program='' folder nats redis i
  case $#:${1-} in
    0:) ;;
    2:--program) program=$2 ;;
    *) fail "cluster takes no arguments but --program FILE" ;;
  esac
  ensure_command nats-server nats-server
  ensure_command redis-server redis-server
  if [[ -z $program ]]; then
    ensure_build_packages
    build release fairlead
    program=$(shown_path "$(program_path release fairlead)")
  fi
  folder=$(mktemp -d "${TMPDIR:-/tmp}/fairlead-cluster.XXXXXX")
  nats=$(free_port)
  redis=$(free_port)
  # What is started here ends with this shell; its folder goes too.
  # shellcheck disable=SC2064
  trap "kill \$(jobs -p) 2>/dev/null; wait; rm -rf '$folder'" EXIT
  trap 'exit 0' INT TERM

  say "starting nats-server on port $nats and redis-server on port $redis, in $folder"
  nats-server -js -a 127.0.0.1 -p "$nats" -sd "$folder/nats" >"$folder/nats.log" 2>&1 &
  redis-server --port "$redis" --bind 127.0.0.1 --dir "$folder" --appendonly yes \
    --appendfsync always >"$folder/redis.log" 2>&1 &
  await_line "$folder/nats.log" "Server is ready"
  await_line "$folder/redis.log" "Ready to accept connections"
  for i in 1 2 3; do
    "$program" serve --role scheduler,gateway --nats-jetstream --nats-url "nats://127.0.0.1:$nats" \
      --redis-url "redis://127.0.0.1:$redis" --listen-api 127.0.0.1:0 --listen-metrics 127.0.0.1:0 \
      --instance "replica-$i" >"$folder/replica-$i.log" 2>&1 &
    await_line "$folder/replica-$i.log" "fairlead is ready"
    grep "fairlead is ready" "$folder/replica-$i.log"
  done
  "$program" worker --pool default --parallel 8 --server "nats://127.0.0.1:$nats" \
    --payloads "redis://127.0.0.1:$redis" -- cat >"$folder/worker.log" 2>&1 &

  local api job
  for i in 1 2 3; do
    api=$(sed -n 's/.*, api \(http[^ ]*\).*/\1/p' "$folder/replica-$i.log")
    job=$("$program" job submit --server "$api" --prompt "hello from replica $i" 2>/dev/null)
    echo "job $job over replica $i: $("$program" job wait --server "$api" "$job" --timeout 30s)"
  done
  echo
  echo "Try next, in another terminal:"
  echo "  export FAIRLEAD_API=$api"
  echo "  $program top"
  echo "Ctrl-C stops everything; nothing stays."
  wait
}
