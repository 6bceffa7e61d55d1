# up.sh: sourced by scripts that want a Slurm of their own on this machine: one slurmctld and one slurmd in a new folder, on loopback, as root,
# without control groups, so nothing is enforced. Without its programs the script ends. Debian: apt-get install --no-install-recommends slurm-wlm munge
set -euo pipefail
command -v slurmctld >/dev/null || { echo "skipped: no slurmctld here (Debian: slurm-wlm, munge)"; exit; }
[ "$(id -u)" = 0 ] || { echo "skipped: Slurm's daemons are started as root"; exit; }
D=$(mktemp -d) H=$(hostname -s) failed=0
export SLURM_CONF=$D/slurm.conf
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
NodeName=n1 NodeHostname=$H NodeAddr=127.0.0.1 Port=$((PORT + 1)) CPUs=64 CoresPerSocket=64 RealMemory=6000
PartitionName=main Nodes=n1 Default=YES MaxTime=1:00:00 DefaultTime=10:00
EOF
end() {
  squeue -h -o %A 2>/dev/null | xargs -r scancel --quiet 2>/dev/null || true
  [ -z "${temporal:-}" ] || kill "$temporal" 2>/dev/null || true
  for f in slurmd slurmctld munged; do
    if [ -f "$D/$f.pid" ] && pid=$(cat "$D/$f.pid"); then kill "$pid" 2>/dev/null; while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done; fi
  done
  rm -rf "$D"
}
trap end EXIT
munged --force --key-file="$D/key" --socket="$D/munge" --pid-file="$D/munged.pid" --log-file="$D/munged.log" --seed-file="$D/seed" 2>/dev/null
until_is() { for _ in $(seq 600); do eval "$1" && return; sleep 0.1; done; echo "never: $1"; return 1; }
until_is '[ -S "$D/munge" ]'; slurmctld; slurmd -N n1; until_is 'sinfo -h -o %T 2>/dev/null | grep -q idle'
