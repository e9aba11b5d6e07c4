#!/usr/bin/env bash
# A server of S3 on this machine: Versity S3 Gateway 1.8.0, whose objects are files in a folder.
#
#   engines/s3.sh install           build it from the Go module proxy (once; it needs Go 1.25 or later)
#   engines/s3.sh start [FOLDER]    start a server that keeps all it has in FOLDER (default: $ENGINES/run/s3)
#   engines/s3.sh stop  [FOLDER]    end it; the objects stay in FOLDER for the next start
#
# MASTER=PID engines/s3.sh start    the server ends when that process is gone: nothing outlives a test that was killed
#
# Without Go, nothing is installed, and tests with S3 are skipped (in CI they fail).
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

s3="$ENGINES/s3"
version=v1.8.0
action="${1:-}"

install() {
  [ -x "$s3/versitygw" ] && return
  command -v go > /dev/null || { echo "s3: not installed: Go is missing (https://go.dev/dl/, 1.25 or later)" >&2; return; }
  echo "s3: building"
  GOBIN="$s3" nice -n 10 go install "github.com/versity/versitygw/cmd/versitygw@$version" ||
    fail "the server of S3 could not be built"
}

start() {
  if is_running "$run/pid"; then fail "a server runs in $run already (pid $(cat "$run/pid"))"; fi
  install
  [ -x "$s3/versitygw" ] || fail "the server is not installed; run: engines/s3.sh install"
  mkdir -p "$run/objects" "$run/meta"
  run="$(cd "$run" && pwd)"
  local attempt
  for attempt in 1 2 3; do try_start && return; done # a port may have been taken since it was found to be free
  tail -n 20 "$run/log" >&2
  fail "the server did not start; all it said: $run/log"
}

# try_start: start the server on a free port; fail if it ends, or does not answer for a minute.
try_start() {
  local port
  port="$(free_ports 1)"
  ROOT_ACCESS_KEY_ID=testing ROOT_SECRET_ACCESS_KEY=testing-secret setsid "$s3/versitygw" --port "127.0.0.1:$port" --health /health --quiet \
    posix --sidecar "$run/meta" "$run/objects" > "$run/log" 2>&1 < /dev/null &
  echo $! > "$run/pid"
  cat > "$run/env" <<ENV
# . $run/env   makes this shell use the server
export AWS_ENDPOINT_URL=http://127.0.0.1:$port AWS_ACCESS_KEY_ID=testing AWS_SECRET_ACCESS_KEY=testing-secret AWS_DEFAULT_REGION=us-east-1
ENV
  for _ in $(seq 600); do
    is_running "$run/pid" || return 1
    if answers "http://127.0.0.1:$port/health"; then
      end_with_master
      echo "S3 runs at http://127.0.0.1:$port; stop it: engines/s3.sh stop $run"
      echo "use it: . $run/env"
      return 0
    fi
    sleep 0.1
  done
  stop
  return 1
}

answers() { python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2)' "$1" 2> /dev/null; }

stop() { stop_process "$run/pid"; }

case "$action" in
  install) mkdir -p "$s3"; install ;;
  start | stop) run="${2:-$ENGINES/run/s3}"; "$action" ;;
  watch) run="$3"; wait_for_master "$2"; stop ;;
  *) sed -n '2,/^source/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
