#!/bin/sh
# Makes the image that the Dockerfile begins with, where no registry can be reached: Debian from a mirror of its packages, and
# this machine's Node.js. It needs root, debootstrap and Docker.
#   deploy/docker/make-node-image.sh [TAG] [MIRROR]
set -eu
tag=${1:-node:22-bookworm-slim}
mirror=${2:-http://deb.debian.org/debian}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 0755 "$root"
debootstrap --variant=minbase --include=ca-certificates,libstdc++6 bookworm "$root" "$mirror"
chroot "$root" apt-get clean
rm -rf "$root"/var/lib/apt/lists/* "$root"/usr/share/doc/* "$root"/usr/share/man/* "$root"/usr/share/locale/*
chroot "$root" groupadd -g 1000 node
chroot "$root" useradd -u 1000 -g node -m node
cp "$(readlink -f "$(command -v node)")" "$root/usr/local/bin/node"
mkdir -p "$root/usr/local/lib/node_modules"
cp -a "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
chroot "$root" node --version
tar -C "$root" -c . | docker import -c 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' - "$tag"
