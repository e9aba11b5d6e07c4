#!/usr/bin/env bash
# PostgreSQL 15: that of this system, or Debian's, which is unpacked here without root. It listens on a socket only.
#
#   engines/postgresql.sh install           fetch it where this system has none (once)
#   engines/postgresql.sh start [FOLDER]    start an empty server (default: $ENGINES/run/postgresql); write FOLDER/env
#   engines/postgresql.sh stop  [FOLDER]    end it, and remove its databases
#
# MASTER=PID engines/postgresql.sh start    the server ends when that process is gone: nothing outlives a test that was killed
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

unpacked="$ENGINES/postgresql/debian"
action="${1:-}"

# find_programs: set $programs to the folder of PostgreSQL's programs, if it is installed.
find_programs() {
  for programs in /usr/lib/postgresql/15/bin "$unpacked/usr/lib/postgresql/15/bin"; do
    [ -x "$programs/initdb" ] && return
  done
  return 1
}

install() {
  find_programs && return
  echo "postgresql: fetching it"
  fetch_debian "$unpacked" --with-dependencies postgresql-15 postgresql-client-15
}

# as_user COMMAND...: run a command as a user other than root, as which PostgreSQL does not run.
as_user() {
  export LD_LIBRARY_PATH="$unpacked/usr/lib/$(uname -m)-linux-gnu"
  if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi
}

start() {
  if [ -f "$run/env" ]; then fail "a server runs in $run already"; fi
  find_programs || fail "PostgreSQL is not installed; run: engines/postgresql.sh install"
  mkdir -p "$run"
  # Its own user may not enter $run, and the path of a socket is short.
  data="$(mktemp -d /tmp/arclink-postgresql.XXXXXX)"
  if [ "$(id -u)" = 0 ]; then chown 65534:65534 "$data"; fi
  as_user "$programs/initdb" -D "$data/data" -A trust -U arclink -E UTF8 --locale=C.UTF-8 > "$run/log"
  as_user "$programs/pg_ctl" -D "$data/data" -l "$data/log" -w start \
    -o "-k $data -c listen_addresses='' -c fsync=off" >> "$run/log" || fail "the server did not start: $data/log"
  cat > "$run/env" <<ENV
# . $run/env   makes this shell use the server
export PGHOST=$data PGUSER=arclink PATH="$programs:\$PATH" LD_LIBRARY_PATH=$unpacked/usr/lib/$(uname -m)-linux-gnu
ENV
  end_with_master
  echo "PostgreSQL runs; use it: . $run/env"
}

stop() {
  [ -f "$run/env" ] || return 0
  # shellcheck disable=SC1091  # written by start
  source "$run/env"
  as_user pg_ctl -D "$PGHOST/data" -m immediate -w stop > /dev/null || true
  rm -rf "$PGHOST" "$run/env"
}

case "$action" in
  install) install ;;
  start | stop) run="${2:-$ENGINES/run/postgresql}"; "$action" ;;
  watch) run="$3"; wait_for_master "$2"; stop ;;
  *) sed -n '2,/^source/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
