#!/usr/bin/env bash
# Installs what the tests need from the system (Debian and its kin). Does nothing when everything is there.
set -euo pipefail

declare -A package_of=([git]=git [ssh]=openssh-client [sshd]=openssh-server [openssl]=openssl [ip]=iproute2 [prlimit]=util-linux
  [gpg]=gnupg [gpgv]=gpgv [ssh-keygen]=openssh-client)
missing=()
for program in "${!package_of[@]}"; do
  PATH="$PATH:/usr/sbin:/sbin" command -v "$program" >/dev/null || missing+=("${package_of[$program]}")
done
if [ "${#missing[@]}" -gt 0 ]; then
  echo "installing: ${missing[*]}"
  run=$([ "$(id -u)" = 0 ] && echo "" || echo sudo)
  $run apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $run apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
