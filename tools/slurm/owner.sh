# Who may use a state folder's server: another host, with the folder's locks and without, another account, a worker's key.
sleeper; serve; cat /proc/sys/kernel/random/uuid > "$P/boot"
elsewhere() { # as another host sees the folder, with its own loopback, name, boot and process numbers
  unshare --net --uts --mount --pid --fork --kill-child bash -c 'hostname elsewhere; ip link set lo up; mount -t proc proc /proc; mount --bind "$0" /proc/sys/kernel/random/boot_id
    cd "$1"; shift; exec timeout 20 "$@"' "$P/boot" "$@" > "$P/out" 2>&1 || echo "exit $?" >> "$P/out"
}
told() { # LINE FOLDER
  local from=$SECONDS; elsewhere "$2" "$redsi" run --slots 1; echo "after $((SECONDS - from)) s" >> "$P/out"
  has "$1: is told whose it is" "runs on another machine: $H"; has "$1: within five seconds" '^after [0-5] s$'
  pgrep -f -- "--dir $2/.redsi/temporal " > "$P/out" || true; sed -i "/^$(cat "$P/pid")\$/d" "$P/out"; [ -s "$P/out" ] || echo none > "$P/out"; has "$1: no second server" '^none$'
}
pgrep -f -- "--dir $P/p/.redsi/temporal " > "$P/pid"
told "T8 another host" "$P/p"
if command -v bindfs >/dev/null && [ -e /dev/fuse ]; then # each mount has locks of its own
  mkdir "$P/m"; bindfs "$P/p" "$P/m"; told "T8 another host with other locks" "$P/m"; umount "$P/m"
else echo "skip  T8 another host with other locks: no bindfs or no FUSE"; fi

as() { runuser -u nobody -- env -u TEMPORAL_CONFIG_FILE HOME=/nonexistent "$@" > "$P/out" 2>&1 || echo "exit $?" >> "$P/out"; }
chmod 755 "$P" "$P/p"; as "$redsi" worker --state "$P/p/.redsi" --store /tmp/none
has "T12 another account does not reach the server by the folder" 'permission denied; it belongs to root'
tls=.redsi/temporal/tls; at=$(sed -n 's/^address = //p' .redsi/temporal/temporal.toml); mkdir "$P/theirs"; cp $tls/ca.pem "$P/theirs/"
profile() { printf '[profile.redsi]\naddress = %s\nnamespace = "%s"\n[profile.redsi.tls]\nserver_name = "%s"\nserver_ca_cert_path = "%s"\n%s' "$at" "$1" "$name" "$P/theirs/ca.pem" "${2:+client_cert_path = \"$PWD/$tls/$2.pem\"
client_key_path = \"$PWD/$tls/$2.key\"
}" > "$P/theirs/temporal.toml"; }
name=$(sed -n 's/^server_name = "\(.*\)"/\1/p' .redsi/temporal/temporal.toml)
try() { TEMPORAL_CONFIG_FILE=$P/theirs/temporal.toml timeout 20 "$redsi" status --temporal-profile redsi --store .redsi/store > "$P/out" 2>&1 || true; }
profile default; try; has "T12 nor without a certificate" 'failed reaching server'
profile default worker; try; has "T12 a worker's certificate is for the namespace default" 'no run'
profile other worker; try; has "T12 and for no other" 'unauthorized\|PermissionDenied'
profile other client; try; has "T12 which the folder's owner is told is not there" 'not found'
