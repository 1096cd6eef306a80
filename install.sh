#!/bin/sh
# Make the virtual environment .venv and install into it what you name for pip: sh install.sh .   or   sh install.sh -e '.[test]'
# Debian and Ubuntu keep `venv` in a package of its own, which is installed first where it is missing.
set -eu
cd "$(dirname "$0")"
if ! python3 -c 'import ensurepip' 2>/dev/null; then
    $(command -v sudo) apt-get update
    $(command -v sudo) apt-get install -y python3-venv
fi
python3 -m venv .venv
.venv/bin/pip install "$@"
