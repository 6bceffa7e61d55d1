#!/bin/bash
# compare.sh REDSI SERVER: 100 steps of 0.1 s by redsi run --slurm, by four pilots, beside Snakemake's executor for Slurm, which
# submits a job per step: the time, and the calls of Slurm's programs but srun; and 1,000 such steps beside redsi run here with
# four slots. For each a row as of `make bench`.
# SNAKEMAKE: the program, with its executor plugin; else both are installed into a new folder.
[ $# = 2 ] || { echo "usage: $0 REDSI SERVER"; exit 2; }
. "$(dirname "$(realpath "$0")")/start.sh"
: "${SNAKEMAKE:=$D/venv/bin/snakemake}"
[ -x "$SNAKEMAKE" ] || { python3 -m venv "$D/venv"; "$D/venv/bin/pip" install -q snakemake==9.27.1 snakemake-executor-plugin-slurm==2.8.0; }
# Each call is a line of calls. The executor takes SLURM_CONF, which sites need not set, from its jobs.
mkdir "$D/bin"; real=$PATH
for p in sbatch squeue scancel scontrol sinfo sacct sacctmgr srun; do
  printf '#!/bin/bash\nexport SLURM_CONF=%s\n[ %s = srun ] || echo %s >> %s/calls\nexec %s "$@"\n' "$SLURM_CONF" $p $p "$D" "$(command -v $p)" > "$D/bin/$p"; chmod 755 "$D/bin/$p"
done
# timed NAME COMMAND… leaves NAME.s and NAME.calls. A command that fails or lacks a result ends all.
timed() {
  true > "$D/calls"; local began=$EPOCHREALTIME
  PATH=$D/bin:$real "${@:2}" > "$D/$1.log" 2>&1 || { cat "$D/$1.log"; exit 1; }
  echo "$began $EPOCHREALTIME" | awk '{ print $2 - $1 }' > "$D/$1.s"; until_is '[ -z "$(squeue -h)" ]'; wc -l < "$D/calls" > "$D/$1.calls"
  echo "$1: $(cat "$D/$1.s") s; $(sort "$D/calls" | uniq -c | tr -s ' \n' ' ')" >&2
}
row() { echo "$1 $2 $3 $4" | awk '{ printf "{\"name\":\"%s\",\"ours\":%.4g,\"peer\":%.4g,\"unit\":\"%s\",\"ratio\":%.3g}\n", $1, $2, $3, $4, $3 / $2 }'; }

ours() { # NAME STEPS FLAG…
  mkdir "$D/$1"; cd "$D/$1"
  cat > pipelines.hcl <<HCL
step "command" "s" {
  for_each = toset([for i in range($2) : format("%03d", i)])
  argv     = ["sh", "-c", "sleep 0.1; echo \${each.key} > out/out.txt"]
  outputs  = ["out.txt"]
}
HCL
  printf 'slurm {\n  pilot "cpu" {\n    cpus   = 1\n    memory = "500MB"\n    time   = "10m"\n    max    = 4\n    idle   = "5s"\n  }\n}\n' > redsi.local.hcl
  timed "$1" "$redsi" run "${@:3}"
  grep -q "$2 steps: 0 hit, $2 ran" "$D/$1.log" || { cat "$D/$1.log"; exit 1; }
}
ours here 1000 --slots 4
ours pilots 1000 --slurm --listen 127.0.0.1
row slurm_1000_vs_here "$(cat "$D/pilots.s")" "$(cat "$D/here.s")" s
ours redsi 100 --slurm --listen 127.0.0.1

# Jobs are looked at as soon and as often as the executor allows, and squeue says how they are: there is no accounting.
peer() {
  mkdir "$D/$1"; cd "$D/$1"
  cat > Snakefile <<'PY'
rule all:
    input: expand("out/{i}.txt", i=range(100))
rule s:
    output: "out/{i}.txt"
    resources: mem_mb=100, runtime=10
    shell: "sleep 0.1; echo {wildcards.i} > {output}"
PY
  timed "$1" "$SNAKEMAKE" --executor slurm --jobs 100 --slurm-no-account --slurm-status-command squeue --slurm-init-seconds-before-status-checks 1 --seconds-between-status-checks 1 --default-resources slurm_partition=main "${@:2}"
  [ "$(ls out | wc -l)" = 100 ] || { cat "$D/$1.log"; exit 1; }
  row "slurm_100_vs_$1" "$(cat "$D/redsi.s")" "$(cat "$D/$1.s")" s
  row "slurm_100_calls_vs_$1" "$(cat "$D/redsi.calls")" "$(cat "$D/$1.calls")" calls
}
peer snakemake
