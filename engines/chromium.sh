#!/usr/bin/env bash
# Headless Chromium for the tests of the page (make test-browser), axe-core, which checks pages for accessibility, and
# ReplayWeb.page, which replays exported WACZ files.
#
#   engines/chromium.sh install           fetch and unpack them (once; 72 MB packed, 262 MB on disk)
#   engines/chromium.sh path              print the browser to start: $CHROMIUM, the one installed here, or the system's
#
# The browser comes as the npm package @sparticuz/chromium, which needs neither root nor a distribution: Linux on x86-64.
# Elsewhere any Chromium will do: name it in CHROMIUM. Tests start and stop it themselves.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

browser="$ENGINES/chromium"
python="${PYTHON:-$root/.venv/bin/python}"

# fetch_package NAME VERSION INTEGRITY: unpack a package of npm to $browser/package, if its SHA-512 is the one expected.
fetch_package() {
  local archive found
  command -v npm > /dev/null || fail "npm is not installed; on Debian and Ubuntu: apt install npm; or set CHROMIUM to a Chromium of yours"
  rm -rf "$browser/package"
  archive="$(cd "$browser" && npm pack --silent "$1@$2" 2> /dev/null | tail -1)" || fail "npm could not fetch $1"
  found="$(openssl dgst -sha512 -binary "$browser/$archive" | base64 -w 0)"
  [ "$found" = "$3" ] || fail "$1 $2 is not the package that was expected (SHA-512 $found)"
  tar -xzf "$browser/$archive" -C "$browser"
  rm "$browser/$archive"
}

# unpack FILE.br: write what a file of the package holds to standard output.
unpack() {
  "$python" -c 'import brotli, sys; sys.stdout.buffer.write(brotli.decompress(open(sys.argv[1], "rb").read()))' "$browser/package/bin/$1"
}

install_axe() {
  [ -f "$browser/axe.min.js" ] && return
  fetch_package axe-core 4.14.1 FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==
  mv "$browser/package/axe.min.js" "$browser/axe.min.js"
  rm -rf "$browser/package"
}

install_replaywebpage() {
  [ -f "$browser/replaywebpage/ui.js" ] && return
  fetch_package replaywebpage 2.4.6 uG50jESRld0p+fY7+nUxIWl7hvfimreNjSmaNkc/a9a8gBdmb7PH4J42Iib+vgk9KrHd0HLScVT++LgqV5fwpQ==
  mkdir -p "$browser/replaywebpage"
  mv "$browser/package/sw.js" "$browser/package/ui.js" "$browser/replaywebpage"
  rm -rf "$browser/package"
}

install_browser() {
  [ -z "${CHROMIUM:-}" ] && [ ! -x "$browser/chromium" ] || return 0
  [ "$(uname -sm)" = "Linux x86_64" ] || fail "this package is for Linux on x86-64; set CHROMIUM to a Chromium of yours"
  echo "chromium: fetching"
  fetch_package @sparticuz/chromium 153.0.0 \
    jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==
  unpack swiftshader.tar.br | tar -xf - -C "$browser"
  unpack al2023.tar.br | tar -xf - -C "$browser"
  unpack chromium.br > "$browser/chromium.part"
  chmod +x "$browser/chromium.part"
  mv "$browser/chromium.part" "$browser/chromium"
  rm -rf "$browser/package"
}

path() {
  local found="${CHROMIUM:-$browser/chromium}"
  [ -x "$found" ] || found="$(command -v chromium || command -v google-chrome)" || fail "no Chromium; run: make engines"
  echo "$found"
}

case "${1:-}" in
  install) mkdir -p "$browser"; install_axe; install_replaywebpage; install_browser ;;
  path) path ;;
  start | stop) ;;
  *) sed -n '2,/^source/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
