#!/usr/bin/env bash
# Headless Firefox for the tests of the page with hostile archives (make test-browser).
#
#   engines/firefox.sh install          take the system's, or unpack that of Debian and what it needs, without root (once; 80 MB)
#   engines/firefox.sh path             print the browser to start: $FIREFOX, the system's, or the one unpacked here
#
# Where there is neither a Firefox nor apt, name any Firefox in FIREFOX. Tests start and stop it themselves.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

browser="$ENGINES/firefox"

# installed: print the Firefox that is there.
installed() {
  if [ -n "${FIREFOX:-}" ]; then echo "$FIREFOX"; return; fi
  command -v firefox-esr || command -v firefox || { [ -x "$browser/firefox" ] && echo "$browser/firefox"; }
}

install() {
  installed > /dev/null && return
  echo "firefox: fetching"
  fetch_debian "$browser/debian" --with-dependencies firefox-esr
  # Its libraries are those of the system, and those that the system lacks.
  cat > "$browser/firefox.part" <<SCRIPT
#!/bin/sh
debian="$browser/debian"
export LD_LIBRARY_PATH="\$(echo "\$debian"/usr/lib/*-linux-gnu*):\$(echo "\$debian"/lib/*-linux-gnu*):\$LD_LIBRARY_PATH"
export XDG_DATA_DIRS="\$debian/usr/share:/usr/local/share:/usr/share"
exec "\$debian/usr/lib/firefox-esr/firefox-esr" "\$@"
SCRIPT
  chmod +x "$browser/firefox.part"
  mv "$browser/firefox.part" "$browser/firefox"
}

case "${1:-}" in
  install) mkdir -p "$browser"; install ;;
  path) installed || fail "no Firefox; run: make test-browser" ;;
  start | stop) ;;
  *) sed -n '2,/^source/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
