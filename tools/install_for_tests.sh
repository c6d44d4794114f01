#!/bin/sh
# install_for_tests.sh NAME...: some tests need a program that pip can't install. Where it is not
# there, install Debian's or Ubuntu's if that needs no password, else say in one line which tests
# will be skipped. Never fails.
set -u

known="chromium gnuplot postgresql"

# Whether the program is there.
there() {
  case $1 in
  chromium)
    [ -n "${PROBATUM_CHROMIUM:-}" ] && return 0
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
      command -v "$name" >/dev/null 2>&1 && return 0
    done
    ;;
  gnuplot)
    command -v gnuplot >/dev/null 2>&1 && return 0
    ;;
  postgresql)
    command -v initdb >/dev/null 2>&1 && return 0
    # Debian keeps the server's programs out of the way.
    for program in /usr/lib/postgresql/*/bin/initdb; do
      [ -x "$program" ] && return 0
    done
    ;;
  esac
  return 1
}

describe() {
  case $1 in
  chromium)
    # Without a font every text is as wide as its empty boxes.
    packages="chromium fonts-dejavu-core"
    tests="the report's pages"
    hint="install chromium, or name one in PROBATUM_CHROMIUM"
    ;;
  gnuplot)
    packages="gnuplot-nox"
    tests="figures drawn by gnuplot"
    hint="install gnuplot with its cairo terminals"
    ;;
  postgresql)
    packages="postgresql"
    tests="stores on a PostgreSQL server"
    hint="install a PostgreSQL server, with initdb on the PATH"
    ;;
  esac
}

install() {
  describe "$1"
  skipped="tests of $tests will be skipped"
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "no $1 and no apt-get here: $skipped; $hint"
    return
  fi
  as_root=""
  if [ "$(id -u)" -ne 0 ]; then
    if ! sudo -n true >/dev/null 2>&1; then
      echo "no $1 here, and apt-get needs a password: $skipped; $hint"
      return
    fi
    as_root="sudo -n"
  fi
  echo "installing $1 for the tests of $tests"
  apt="env DEBIAN_FRONTEND=noninteractive apt-get -qq"
  # Word splitting is meant: these are several words each.
  # shellcheck disable=SC2086
  if ! { $as_root $apt update && $as_root $apt install -y --no-install-recommends $packages; } \
    >/dev/null 2>&1 </dev/null || ! there "$1"; then
    echo "apt-get could not install $1: $skipped; $hint"
  fi
}

for wanted in "$@"; do
  case " $known " in
  *" $wanted "*) there "$wanted" || install "$wanted" ;;
  *) echo "nothing is known about $wanted; known are $known" ;;
  esac
done
exit 0
