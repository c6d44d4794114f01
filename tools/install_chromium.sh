#!/bin/sh
# Tests of the report's pages need a browser: where there is none, install Debian's or Ubuntu's if
# that needs no password, else say in one line why those tests will be skipped. Never fails.
set -u

there() {
  [ -n "${PROBATUM_CHROMIUM:-}" ] && return 0
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$name" >/dev/null 2>&1 && return 0
  done
  return 1
}

there && exit 0
skipped="tests of the report's pages will be skipped"
hint="install chromium, or name one in PROBATUM_CHROMIUM"
if ! command -v apt-get >/dev/null 2>&1; then
  echo "no Chromium and no apt-get here: $skipped; $hint"
  exit 0
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
  if ! sudo -n true >/dev/null 2>&1; then
    echo "no Chromium here, and apt-get needs a password: $skipped; $hint"
    exit 0
  fi
  as_root="sudo -n"
fi
echo "installing chromium for the tests of the report's pages"
# Without a font every text is as wide as its empty boxes.
install="env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends"
if ! { $as_root apt-get update -qq && $as_root $install chromium fonts-dejavu-core; } >/dev/null 2>&1 || ! there; then
  echo "apt-get could not install chromium: $skipped; $hint"
fi
exit 0
