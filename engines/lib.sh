# What the engine scripts share; sourced by them. Nothing here is specific to one engine.
#
#   ENGINES   where jars, environments and running clusters are kept (default: .engines in the clone, ignored by git)
#   JAVA_HOME a JDK 17; looked for where it is not set, or is another version

set -euo pipefail
scripts="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
root="$(dirname "$scripts")"
ENGINES="${ENGINES:-$root/.engines}"
mkdir -p "$ENGINES"
ENGINES="$(cd "$ENGINES" && pwd)"

fail() { echo "$(basename "$0"): $*" >&2; exit 1; }

# find_java: set JAVA_HOME to a JDK 17. Hadoop 3.4 does not start on newer ones (getSubject is not supported).
find_java() {
  local home javac
  javac="$(command -v javac || true)"
  for home in "${JAVA_HOME:-}" /usr/lib/jvm/*17* /Library/Java/JavaVirtualMachines/*17*/Contents/Home "${javac%/bin/javac}"; do
    if [ -n "$home" ] && [ -x "$home/bin/javac" ] && "$home/bin/javac" -version 2>&1 | grep -q ' 17\.'; then
      export JAVA_HOME="$home"
      return
    fi
  done
  fail "no JDK 17 found; on Debian and Ubuntu: apt install openjdk-17-jdk-headless; or set JAVA_HOME"
}

# fetch_jars NAME: copy what engines/NAME/pom.xml names to $ENGINES/NAME/jars, unless that is done.
fetch_jars() {
  local pom="$scripts/$1/pom.xml" folder="$ENGINES/$1" mark
  mark="$(cksum < "$pom")"
  [ "$(cat "$folder/.fetched" 2>/dev/null)" = "$mark" ] && return
  command -v mvn > /dev/null || fail "Maven is not installed; on Debian and Ubuntu: apt install maven"
  echo "$1: fetching jars"
  rm -rf "$folder/jars"
  mkdir -p "$folder"
  mvn -B -ntp -q -f "$pom" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$folder/jars" || fail "the jars of $1 could not be fetched"
  echo "$mark" > "$folder/.fetched"
}

# fetch_debian FOLDER [--with-dependencies] PACKAGE...: unpack packages of Debian to the folder, without root; with what they
# need and this system lacks. apt checks the signed checksums of its lists.
fetch_debian() {
  local folder="$1" dependencies= lists
  shift
  if [ "$1" = --with-dependencies ]; then dependencies=1; shift; fi
  command -v apt-get > /dev/null || fail "$* cannot be fetched: there is no apt-get here"
  rm -rf "$folder"
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  # Lists of our own, where those of the system are missing or too old.
  lists="-o Dir::State::lists=$folder/lists -o Dir::Cache=$folder/cache"
  (
    cd "$folder"
    download_debian "$dependencies" "" "$@" || {
      rm -f ./*.deb
      # shellcheck disable=SC2086  # several words
      apt-get $lists update 2>&1 | { grep -v '^Get:\|^Hit:\|^Fetched\|^Reading' || true; } >&2
      download_debian "$dependencies" "$lists" "$@"
    }
    for package in *.deb; do dpkg-deb --extract "$package" .; done
    rm ./*.deb
  ) || fail "apt could not fetch $*"
  rm -rf "$folder/lists" "$folder/cache"
  touch "$folder/.unpacked"
}

# download_debian DEPENDENCIES OPTIONS PACKAGE...: see fetch_debian; to this folder.
download_debian() {
  local dependencies="$1" options simulated
  read -ra options <<< "$2"
  shift 2
  if [ -n "$dependencies" ]; then
    simulated="$(apt-get "${options[@]}" -qq --simulate --no-install-recommends install "$@")" || return
    # shellcheck disable=SC2046  # names of packages have no blanks
    set -- $(sed -n 's/^Inst \([^ ]*\).*/\1/p' <<< "$simulated")
  fi
  # It cannot become its own user in this folder, and says so.
  apt-get "${options[@]}" download "$@" 2>&1 | { grep -v '^Get:\|^Fetched\|unsandboxed' || true; } >&2
}

# compile_jar JAR CLASSPATH SOURCE...: compile Java sources into one jar, if one of them is newer than it.
compile_jar() {
  local jar="$1" classpath="$2" classes source is_old=
  shift 2
  for source in "$@"; do if [ ! "$jar" -nt "$source" ]; then is_old=1; fi; done
  [ -n "$is_old" ] || return 0
  classes="$(mktemp -d)"
  "$JAVA_HOME/bin/javac" -nowarn -proc:none --release 11 -cp "$classpath" -d "$classes" "$@" || fail "$* does not compile"
  "$JAVA_HOME/bin/jar" --create --file "$jar" -C "$classes" .
  rm -rf "$classes"
}

# free_ports N: print N ports of 127.0.0.1 that nothing listens on, below those that the system gives to clients.
free_ports() {
  python3 - "$1" <<'PYTHON'
import contextlib
import random
import socket
import sys

found = []
for port in random.sample(range(15000, 32000), 2000):
    one = socket.socket()
    with contextlib.suppress(OSError):
        one.bind(("127.0.0.1", port))
        found.append((port, one))  # held until all are found
    if len(found) == int(sys.argv[1]):
        break
print(*(port for port, _ in found))
PYTHON
}

# is_running PIDFILE: whether the process named in the file is there.
is_running() { [ -f "$1" ] && kill -0 "$(cat "$1")" 2> /dev/null; }

# stop_process PIDFILE: end the process named in the file, and wait until it is gone.
stop_process() {
  local pid
  [ -f "$1" ] || return 0
  pid="$(cat "$1")"
  kill "$pid" 2> /dev/null || true
  for _ in $(seq 100); do kill -0 "$pid" 2> /dev/null || break; sleep 0.1; done
  kill -9 "$pid" 2> /dev/null || true
  rm -f "$1"
}

# end_with_master: have the script stop what runs in $run when process MASTER is gone, if one is named.
end_with_master() {
  [ -n "${MASTER:-}" ] || return 0
  setsid "$0" watch "$MASTER" "$run" > /dev/null 2>&1 < /dev/null &
}

# wait_for_master PID: return when the process is gone.
wait_for_master() { while kill -0 "$1" 2> /dev/null; do sleep 1; done; }

# What Hadoop and Pig reach into on Java 17.
java_opens() {
  local package
  for package in java.lang java.lang.reflect java.io java.math java.net java.text java.util java.util.concurrent \
    java.util.zip java.nio java.security sun.security.util sun.security.x509; do
    printf -- '--add-opens=java.base/%s=ALL-UNNAMED ' "$package"
  done
}
