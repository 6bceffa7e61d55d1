#!/bin/bash
# session.sh REDSI SERVER: a researcher's session from login to table, which docs/cluster.md shows, on a Slurm of this machine's own, by an
# account that may do nothing else. It prints what was typed and what was said, and fails if that lacks what the page promises.
[ $# = 2 ] || { echo "usage: $0 REDSI SERVER"; exit 2; }
. "$(dirname "$0")/start.sh" "$@"
mkdir "$D/bin" "$D/home" "$D/home/paper"; cp "$redsi" "$D/bin/redsi"; cp "$server" "$D/bin/redsi-temporal-server"; cd "$D/home/paper"; failed=0
unset REDSI_TEMPORAL_SERVER
as() { setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME="$D/home" USER=nobody PATH="$D/bin:$PATH" "$@"; }
if getent hosts "$H" | grep -q '^127\.'; then # no login node: those have a name that means an address of theirs
  mv "$D/bin/redsi" "$D/bin/redsi-here"
  printf '#!/bin/bash\nshopt -s extglob\ncase "$1 $*" in @(run|apply)*--slurm*) set -- "$@" --listen 127.0.0.1;; esac\nexec %s "$@"\n' "$D/bin/redsi-here" > "$D/bin/redsi"; chmod 755 "$D/bin/redsi"
fi
note() { printf '\n# %s\n' "$*"; }
typed() { echo "\$ $*"; as bash -c "$*" > "$D/out" 2>&1 || true; cat "$D/out"; }
says() { grep -q -e "$1" "$D/out" || { echo "FAIL  no '$1'"; failed=1; }; }

cat > pipelines.hcl <<'E'
variable "runs" { default = 4 }

locals { methods = { random = 3, careful = 5 } }

step "command" "try" {
  for_each = product({ method = keys(local.methods), run = range(1, var.runs + 1) })
  argv     = ["sh", "-c", "sleep 10; echo '{\"score\": ${local.methods[each.value.method]}.${each.value.run}}' > out/score.json"]
  outputs  = ["score.json"]
  resources {
    cpus   = 1
    memory = "200MB"
    time   = "2m"
  }
}

table "scores" {
  caption = "Score, mean and standard deviation of ${var.runs} runs."
  stubs   = ["Method"]
  columns = [{ id = "score", title = "Score", format = "fixed", decimals = 2, std = true, best = "max" }]
  rows = [for m in keys(local.methods) : {
    id     = m
    titles = [m]
    value  = [for i in range(1, var.runs + 1) : step.command.try["${m}/${i}"].out]
    at     = "score.json:"
  }]
}
E
cat > redsi.local.hcl <<'E'
slurm {
  pilot "cpu" {
    flags  = ["--partition=main"]
    cpus   = 2
    memory = "400MB"
    time   = "30m"
    max    = 4
    idle   = "5s"
  }
}
E
chown -R nobody:nogroup "$D/home"

note "on the login node, in the folder of the paper"
typed cat pipelines.hcl redsi.local.hcl; says 'table "scores"'
typed redsi doctor; says 'ok    temporal server'
typed redsi plan --slurm; says 'pilots    cpu: 9 steps'; says 'could start at'
echo '$ redsi run --slurm'; as redsi run --slurm > "$D/run" 2>&1 & run=$!
until_is '[ "$(squeue -h -t R -o %j | grep -c -e -cpu$)" -ge 2 ]'; until_is 'as redsi status 2>/dev/null | grep -q "RUNNING.*slurm"'; as redsi status > "$D/status" 2>&1
wait $run || true; cp "$D/run" "$D/out"; cat "$D/out"
says '^submitted [1-4] pilots cpu as [0-9]*: 8 steps ready'; says '0 hit, 9 ran'
note "meanwhile, in a second shell"
echo '$ redsi status'; cp "$D/status" "$D/out"; cat "$D/out"; says 'RUNNING  step.command.try.* on n1'; says 'pilots  cpu [1-4] running (ends'
note "the table"
typed cat results/tables/scores.md; says 'careful'
note "two more runs of each method: what is done is not done again"
typed redsi run --slurm --var runs=6; says '8 hit, 5 ran'
note "and for a login node on which nothing may run for long"
typed redsi run --slurm --var runs=8 --as-job 1h; says '^submitted the run as job'
until_is '[ -z "$(squeue -h -o %j | grep -e -head$)" ]'
typed redsi status --last 1; says 'ran'
typed tail -n 12 .redsi/head/run.log; says '12 hit, 5 ran'
exit $failed
