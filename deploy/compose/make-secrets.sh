#!/bin/sh
# Writes the secrets of compose.yaml into secrets/, in the folder of compose.yaml. It keeps those that exist.
set -eu
cd "$(dirname "$0")/../.."
# Only the owner may enter the folder. The containers read the files under other user ids, so that the files are readable.
mkdir -p secrets && chmod 0700 secrets
# The engine would create it as root.
mkdir -p config
random() { head -c 256 /dev/urandom | base64 | tr -dc 'A-Za-z0-9' | head -c "$1"; }
write() { [ -s "secrets/$1" ] || { printf '%s' "$2" >"secrets/$1" && chmod 0444 "secrets/$1"; }; }
write database-password "$(random 40)"
write database-url "postgres://switchyard:$(cat secrets/database-password)@database:5432/switchyard"
write secret-key "$(random 64)"
write bootstrap-token "cog_$(random 64)"
echo "The secrets are in $PWD/secrets. The administrator's token is in secrets/bootstrap-token."
