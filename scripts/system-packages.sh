#!/usr/bin/env bash
# Installs what the tests need from the system (Debian and its kin). Does nothing when everything is there.
set -euo pipefail

declare -A package_of=([git]=git [ssh]=openssh-client [sshd]=openssh-server [openssl]=openssl [ip]=iproute2 [prlimit]=util-linux [setpriv]=util-linux
  [gpg]=gnupg [gpgv]=gpgv [ssh-keygen]=openssh-client [fusermount3]=fuse3 [buildah]=buildah)
# A library is no program on PATH: it lets ssh run for a user without an entry in /etc/passwd, as in the controller's image.
missing=()
for program in "${!package_of[@]}"; do
  PATH="$PATH:/usr/sbin:/sbin" command -v "$program" >/dev/null || missing+=("${package_of[$program]}")
done
ldconfig -p 2>/dev/null | grep -q libnss_wrapper || /sbin/ldconfig -p 2>/dev/null | grep -q libnss_wrapper || missing+=(libnss-wrapper)
# The case-insensitive volume of the engine's tests.
[ -e /usr/lib/python3/dist-packages/fusepy.py ] || missing+=(python3-fusepy)
if [ "${#missing[@]}" -gt 0 ]; then
  echo "installing: ${missing[*]}"
  run=$([ "$(id -u)" = 0 ] && echo "" || echo sudo)
  $run apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $run apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
