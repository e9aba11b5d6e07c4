#!/usr/bin/env bash
# Kerberos for tests of secured clusters: the server (Apache Kerby, as jars), which `SECURED=1 engines/hadoop.sh start` starts
# next to Hadoop, and what the Python package gssapi is compiled with.
#
#   engines/kerberos.sh install         fetch the jars (once; 8 MB)
#   engines/kerberos.sh with COMMAND    run a command that compiles gssapi: with the headers of this system where krb5-config
#                                       is installed, otherwise with Debian's, which are unpacked here without root
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kerberos="$ENGINES/kerberos"

install() {
  find_java
  fetch_jars kerberos
  compile_jar "$kerberos/cluster.jar" "$ENGINES/hadoop/jars/*:$ENGINES/hadoop/cluster.jar:$kerberos/jars/*" \
    "$scripts/kerberos/"*.java
}

# fetch_headers: unpack Debian's headers and libraries of MIT Kerberos to $kerberos/debian.
fetch_headers() {
  [ -f "$kerberos/debian/.unpacked" ] && return
  echo "kerberos: fetching headers"
  fetch_debian "$kerberos/debian" krb5-multidev comerr-dev libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0 libcom-err2 \
    libkeyutils1
}

# with COMMAND...: see above.
with() {
  local libraries
  if ! command -v krb5-config > /dev/null && [ "$(uname -s)" = Linux ]; then
    fetch_headers
    libraries="$kerberos/debian/usr/lib/$(gcc -print-multiarch)"
    export GSSAPI_COMPILER_ARGS="-I$kerberos/debian/usr/include/mit-krb5 -I$kerberos/debian/usr/include -DHAS_GSSAPI_EXT_H"
    # Compiled modules find the libraries here, and these find each other, also where the system has none.
    export GSSAPI_LINKER_ARGS="-L$libraries/mit-krb5 -Wl,--disable-new-dtags,-rpath,$libraries -lgssapi_krb5"
    export GSSAPI_MAIN_LIB="$libraries/libgssapi_krb5.so.2"
  fi
  exec "$@"
}

case "${1:-}" in
  install) install ;;
  with) shift; with "$@" ;;
  start | stop) ;;
  *) sed -n '2,/^source/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
