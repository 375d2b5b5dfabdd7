#!/usr/bin/env bash
# Installs what the tests need from the system (Debian and its kin). Does nothing when everything is there. With --missing it only prints the
# names of the packages that are missing, one a line.
set -euo pipefail

declare -A package_of=([git]=git [ssh]=openssh-client [sshd]=openssh-server [openssl]=openssl [ip]=iproute2 [prlimit]=util-linux [setpriv]=util-linux
  [gpg]=gnupg [gpgv]=gpgv [ssh-keygen]=openssh-client [fusermount3]=fuse3 [buildah]=buildah [prometheus]=prometheus [promtool]=prometheus
  [containerd]=containerd [ctr]=containerd [runc]=runc [iptables]=iptables [unshare]=util-linux [nsenter]=util-linux [nginx]=nginx
  [chromium]=chromium [debootstrap]=debootstrap [docker-registry]=docker-registry)
# A library is no program on PATH: it lets ssh run for a user without an entry in /etc/passwd, as in the controller's image.
missing=()
for program in "${!package_of[@]}"; do
  PATH="$PATH:/usr/sbin:/sbin" command -v "$program" >/dev/null || missing+=("${package_of[$program]}")
done
ldconfig -p 2>/dev/null | grep -q libnss_wrapper || /sbin/ldconfig -p 2>/dev/null | grep -q libnss_wrapper || missing+=(libnss-wrapper)
# The network of pods on a node.
[ -e /usr/lib/cni/ptp ] || missing+=(containernetworking-plugins)
# The case-insensitive volume of the engine's tests.
[ -e /usr/lib/python3/dist-packages/fusepy.py ] || missing+=(python3-fusepy)
if [ "${1:-}" = --missing ]; then
  [ "${#missing[@]}" -eq 0 ] || printf '%s\n' "${missing[@]}" | sort -u
elif [ "${#missing[@]}" -gt 0 ]; then
  echo "installing: ${missing[*]}"
  run=$([ "$(id -u)" = 0 ] && echo "" || echo sudo)
  # A package with a service, as that of Prometheus, would start it: nothing is started here, and nothing at the next boot either.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | $run tee "$policy" >/dev/null
    $run chmod 755 "$policy"
    trap '$run rm -f "$policy"' EXIT
  fi
  $run apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $run apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  for service in prometheus nginx docker-registry; do
    case " ${missing[*]} " in *" $service "*)
      if command -v systemctl >/dev/null; then $run systemctl disable --quiet "$service.service" 2>/dev/null || true; fi
      ;;
    esac
  done
fi
