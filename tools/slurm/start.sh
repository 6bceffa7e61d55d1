# start.sh, to be sourced with REDSI and SERVER as arguments: a Slurm of one node on this machine, until the shell ends: one slurmctld and
# one slurmd in the new folder $D, on loopback at $PORT and the next, as root, without control groups, so nothing is enforced. Debian:
# apt-get install --no-install-recommends slurm-wlm munge. Leaves $redsi, $server, and functions for jobs and lines, each for a part's folder.
set -euo pipefail
command -v slurmctld >/dev/null || { echo "skipped: no slurmctld here (Debian: slurm-wlm, munge)"; exit; }
[ "$(id -u)" = 0 ] || { echo "skipped: Slurm's daemons are started as root"; exit; }
redsi=$(realpath "$1") server=$(realpath "$2") here=$(dirname "$(realpath "${BASH_SOURCE[0]}")") D=$(mktemp -d) H=$(hostname -s)
export SLURM_CONF=$D/slurm.conf REDSI_TEMPORAL_SERVER=$server
chmod 755 "$D"; head -c 1024 /dev/urandom > "$D/key"; chmod 400 "$D/key"
cat > "$SLURM_CONF" <<EOF
ClusterName=test
SlurmctldHost=$H(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=${PORT:=17817}
SlurmctldPidFile=$D/slurmctld.pid
SlurmdPidFile=$D/slurmd.pid
SlurmdSpoolDir=$D/spool
StateSaveLocation=$D/state
SlurmctldLogFile=$D/slurmctld.log
SlurmdLogFile=$D/slurmd.log
AuthType=auth/munge
AuthInfo=socket=$D/munge,cred_expire=5
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
NodeName=n1 NodeHostname=$H NodeAddr=127.0.0.1 Port=$((PORT + 1)) CPUs=64 CoresPerSocket=64 RealMemory=12000
PartitionName=main Nodes=n1 Default=YES MaxTime=1:00:00 DefaultTime=10:00
EOF
end() {
  squeue -h -o %A 2>/dev/null | xargs -r scancel --quiet 2>/dev/null || true
  for f in slurmd slurmctld munged; do
    if [ -f "$D/$f.pid" ] && pid=$(cat "$D/$f.pid"); then kill "$pid" 2>/dev/null; while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done; fi
  done
  rm -rf "$D"
}
trap end EXIT
# until_is CONDITION waits for it, a minute at most. ends JOB waits for a job's end, as --wait of sbatch does in steps of ten seconds.
until_is() { local end=$((SECONDS + 60)); until eval "$1"; do [ $SECONDS -lt $end ] || { echo "never: $1"; return 1; }; sleep 0.1; done; }
ends() { until_is '[ -z "$(squeue -h -j '"$1"' 2>/dev/null)" ]'; }
munged --force --key-file="$D/key" --socket="$D/munge" --pid-file="$D/munged.pid" --log-file="$D/munged.log" --seed-file="$D/seed" 2>/dev/null
until_is '[ -S "$D/munge" ]'; slurmctld; slurmd -N n1
until_is 'sinfo -h -o %T 2>/dev/null | grep -q idle' || { tail -n 5 "$D/slurmctld.log" "$D/slurmd.log"; exit 1; }

# part NAME sources NAME.sh beside this file in a folder $P of its own, with what it prints in NAME.log; parts may run at the same time.
# What it has left in the background is ended. parts NAME… runs them all at once, prints what they said, and fails if one has failed.
part() {
  P=$D/$1 failed=0; mkdir -p "$P/p"; cd "$P/p"; trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
  . "$here/$1.sh"; exit $failed
}
parts() {
  local p all=0; declare -A of
  for p; do part "$p" > "$D/$p.log" 2>&1 & of[$p]=$!; done
  for p; do wait "${of[$p]}" || { all=1; echo "FAIL  $p.sh"; }; cat "$D/$p.log"; done
  return $all
}
# has LINE TEXT: a line of the report: the file out has the text. job COMMAND [FLAG…]: submits it, with its output in out, and prints the number.
has() { if grep -q -- "$2" "$P/out"; then echo "ok    $1"; else echo "FAIL  $1: no '$2' in:"; cat "$P/out"; failed=1; fi; }
job() { rm -f "$P/out"; printf '#!/bin/bash\nexec srun %s\n' "$1" > "$P/job.sh"; sbatch --parsable --output="$P/out" "${@:2}" "$P/job.sh"; }
# sleeper: a pipeline of one step that says in begins that it begins, and sleeps. steps KEYS SECONDS TEXT [RESOURCES]: one with a step per key.
sleeper() {
  cat > pipelines.hcl <<EOF
variable "sleep" {
  default = 300
}
step "command" "s" {
  argv    = ["sh", "-c", "echo begin >> \$BEGINS; sleep \${var.sleep}; echo x > out/out.txt"]
  env     = { BEGINS = "$P/begins" }
  outputs = ["out.txt"]
}
EOF
}
steps() { printf 'step "command" "s" {\n  for_each = %s\n  argv     = ["sh", "-c", "echo ${each.key} >> %s/begins; sleep %s; echo %s > out/out.txt"]\n  outputs  = ["out.txt"]\n  resources { %s }\n}\n' "$1" "$P" "$2" "$3" "${4:-}" > pipelines.hcl; }
few='["a","b","c"]' many='["a","b","c","d","e","f","g","h","i","j","k","l"]'
once() { [ "$(sort "$P/begins" | uniq -d | wc -l)" = 0 ] && [ "$(wc -l < "$P/begins")" = "$1" ] && echo once || cat "$P/begins"; }
# block [LINE]: the settings for pilots of one processor.
block() { printf 'slurm {\n  pilot "cpu" {\n    %s\n    cpus   = 1\n    memory = "300MB"\n    time   = "5m"\n    max    = 4\n    idle   = "3s"\n  }\n}\n' "${1:-}" > redsi.local.hcl; }
# serve starts the folder's server for jobs, as $head.
serve() { "$redsi" dev --listen 127.0.0.1 --port 0 --ui-port 0 --graph-port 0 "$@" > "$P/head" 2>&1 & head=$!; until_is 'grep -q "redsi worker" "$P/head"'; }
