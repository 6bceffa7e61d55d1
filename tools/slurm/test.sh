#!/bin/bash
# test.sh REDSI SERVER TESTS: redsi in jobs of a real Slurm of this machine's own, as root
. "$(dirname "$0")/up.sh"
[ $# = 3 ] || { echo "usage: $0 REDSI SERVER TESTS, those of internal/host/slurm"; exit 2; }
redsi=$(realpath "$1") server=$(realpath "$2") tests=$(realpath "$3") temporal=
export REDSI_TEMPORAL_SERVER=$server
mkdir "$D/p"; cd "$D/p"
cat > pipelines.hcl <<'EOF'
variable "sleep" {
  default = 300
}
step "command" "s" {
  argv    = ["sh", "-c", "echo begin >> $BEGINS; sleep ${var.sleep}; echo x > out/out.txt"]
  env     = { BEGINS = "/dev/null" }
  outputs = ["out.txt"]
}
EOF
sed -i "s|/dev/null|$D/begins|" pipelines.hcl
has() { if grep -q -- "$2" "$D/out"; then echo "ok    $1"; else echo "FAIL  $1: no '$2' in:"; cat "$D/out"; failed=1; fi; }
job() { printf '#!/bin/bash\nexec srun %s\n' "$1" > "$D/job.sh"; sbatch --parsable --output="$D/out" "${@:2}" "$D/job.sh"; }

mkdir "$D/site"; REDSI_TEST_SLURM=$D/site "$tests" -test.run TestSite -test.v > "$D/out" 2>&1 || true
has "jobs are submitted, found and taken back" '^--- PASS: TestSite'

job "-n1 $redsi doctor" --wait -c1 --mem=600 >/dev/null || true
has "B3 a job of one processor and 600 MiB has no more" 'batch job *slurm [0-9]* on n1: 1 processor, 629 MB'
job "-n2 $redsi doctor" --wait -n2 -c2 --mem=1200 --time=5 >/dev/null || true
has "B5 two tasks share" '2 processors, 629 MB of memory for steps of each of its 2 tasks here'

id=$(job "-n1 $redsi run" -c1 --mem=900); until_is '[ -s "$D/begins" ]'
for s in TERM CONT TERM INT; do scancel --signal=$s "$id"; done; until_is '[ -z "$(squeue -h -j $id)" ]'
has "B9 signals at once are one" 'was cancelled: 0 hit, 0 ran, 1 cancelled'

export TEMPORAL_CONFIG_FILE=$D/temporal/temporal.toml; mkdir "$D/temporal"; rm "$D/begins"
"$server" --dir "$D/temporal" --port 0 --idle 1h --attribute RedsiPipeline --attribute RedsiStep --attribute RedsiKey --attribute RedsiOutcome 2> "$D/server.log" & temporal=$!
until_is '[ -s "$TEMPORAL_CONFIG_FILE" ]'
printf 'slurm {\n  pilot "one" {\n    cpus   = 1\n    memory = "600MB"\n    time   = "5m"\n  }\n}\n' > redsi.local.hcl
"$redsi" plan --slurm > "$D/out" 2>&1
has "plan --slurm says when a pilot could start" 'pilots    one: 1 step.*could start at 20'
"$redsi" worker --slurm-script --temporal-profile redsi --idle-exit 1s > "$D/one.sh"; sbatch --wait --output="$D/out" "$D/one.sh" >/dev/null || true
has "the file of worker --slurm-script starts a worker" 'worker started temporal='
"$redsi" run --temporal-profile redsi --var sleep=40 > "$D/run" 2>&1 & run=$!
for _ in 1 2 3; do job "-n1 $redsi worker --temporal-profile redsi --until 10s --idle-exit 8s" --wait -c1 --mem=600 >/dev/null || true; done
{ kill -9 $run; wait $run; } 2>/dev/null || true; cp "$D/begins" "$D/out"; [ "$(wc -l < "$D/begins")" -gt 2 ] && echo "too many begins" > "$D/out"
has "B7 a step that is too long for workers is begun at most twice" begin

unset TEMPORAL_CONFIG_FILE; rm "$D/begins"
head() { "$redsi" dev --listen 127.0.0.1 --port 0 --ui-port 0 --graph-port 0 --slots 1 > "$D/head" 2>&1 & head=$!; until_is 'grep -q "redsi worker" "$D/head"'; }
head; job "-n1 $redsi worker --state $D/p/.redsi --idle-exit 3s" -c1 --mem=600 >/dev/null; until_is 'grep -q "worker started" "$D/out"'
"$redsi" run --slots 1 --var sleep=8 > "$D/run" 2>&1 & run=$!; until_is '[ -s "$D/begins" ]'
{ kill -9 $run $head; wait $run $head; } 2>/dev/null || true; until_is '[ ! -e .redsi/temporal/server.json ]'; head
"$redsi" attach > "$D/out" 2>&1 || true; kill $head; wait $head || true
has "B12, B13 a job joins the folder's server, and a run outlives its head" 'has ended: 0 hit, 1 ran'

# redsi run --slurm: T1 twelve steps once, few calls, pilots leave; T2 refused; T5 a killed command; T11 cancelled without a worker
mkdir "$D/q"; cd "$D/q"; mkdir "$D/bin"; true > "$D/calls"
printf '#!/bin/bash\ncase " $* " in *" --parsable "*) echo x >> %s/calls;; esac\nexec %s "$@"\n' "$D" "$(command -v sbatch)" > "$D/bin/sbatch"
chmod 755 "$D/bin/sbatch"; PATH=$D/bin:$PATH
block() { printf 'slurm {\n  pilot "cpu" {\n    %s\n    cpus   = 1\n    memory = "300MB"\n    time   = "5m"\n    max    = 4\n    idle   = "3s"\n  }\n}\n' "${1:-}" > redsi.local.hcl; }
steps() { printf 'step "command" "s" {\n  for_each = %s\n  argv     = ["sh", "-c", "echo ${each.key} >> %s/begins; sleep %s; echo %s > out/out.txt"]\n  outputs  = ["out.txt"]\n  resources { %s }\n}\n' "$1" "$D" "$2" "$3" "${4:-}" > pipelines.hcl; }
few='["a","b","c"]' many='["a","b","c","d","e","f","g","h","i","j","k","l"]'
once() { [ "$(sort "$D/begins" | uniq -d | wc -l)" = 0 ] && [ "$(wc -l < "$D/begins")" = "$1" ] && echo once || cat "$D/begins"; }
block; steps "$few" 1 0 'memory = "1GB"'; "$redsi" run --slurm --listen 127.0.0.1 > "$D/out" 2>&1 || true; wc -l < "$D/calls" >> "$D/out"
has "T2 a step that no pilot holds is refused" 'pilot cpu (redsi.local.hcl:2) has 300 MB'; has "T2 nothing is submitted" '^0$'
rm -f "$D/begins"; steps "$many" 2 1; SBATCH_EXPORT=NONE "$redsi" run --slurm --listen 127.0.0.1 > "$D/out" 2>&1 || true
has "T1 pilots do the steps, also of a site that passes no variables on" '0 hit, 12 ran'; once 12 > "$D/out"; has "T1 each once" '^once$'
wc -l < "$D/calls" > "$D/out"; has "T1 at most three submissions" '^[123]$'; until_is '[ -z "$(squeue -h)" ]'
rm -f "$D/begins"; steps "$few" 8 2; "$redsi" run --slurm --listen 127.0.0.1 > "$D/run" 2>&1 & run=$!; until_is '[ -s "$D/begins" ]'
{ kill -9 $run; wait $run; } 2>/dev/null || true; "$redsi" run --slurm --listen 127.0.0.1 > "$D/out" 2>&1 || true
has "T5 the next command goes on with the run" 'is still open: it goes on'; has "T5 which ends" '0 hit, 3 ran'
once 3 > "$D/out"; has "T5 each step once" '^once$'; until_is '[ -z "$(squeue -h)" ]'
block 'flags  = ["--begin=now+1hour"]'; steps "$few" 1 3; "$redsi" run --slurm --listen 127.0.0.1 > "$D/out" 2>&1 & run=$!
until_is 'grep -q submitted "$D/out"'; until_is '"$redsi" status > "$D/status"; grep -q BeginTime "$D/status"'; kill -INT $run; wait $run || true
has "T11 a run without a worker is cancelled" 'was cancelled'; has "T11 pilots are taken back" 'took back pilots that had not begun'
cp "$D/status" "$D/out"; has "status shows pilots" 'pilots  cpu [1-4] pending (BeginTime)'; until_is '[ -z "$(squeue -h)" ]'

# redsi run --slurm --as-job: T13 the run's job is followed by another one, each step once; scancel cancels the run
head_ended() { until_is '[ -z "$(squeue -h -o %j | grep -e -head$)" ]'; cp .redsi/head/run.log "$D/out"; }
submit() { "$redsi" run --slurm --as-job 5m --listen 127.0.0.1 > "$D/out" 2>&1 || true; }
block; rm -f "$D/begins"; steps "$few" 10 4; submit; id=$(sed -n 's/^submitted the run as job \([0-9]*\);.*/\1/p' "$D/out")
has "T13 the run is a job" '^submitted the run as job'; submit; has "T13 which there is one of" "^job $id keeps a run of this state folder and store already"
until_is '[ -s "$D/begins" ]'; scancel --batch --signal=USR1 "$id"; until_is '[ -z "$(squeue -h -j $id)" ]'
"$redsi" status > "$D/out" 2>&1; has "T13 status shows the job that follows" 'pilots  head 1 running'
head_ended; has "T13 it goes on with the run" "this job goes on with the run of job $id"; has "T13 which ends" '0 hit, 3 ran'
once 3 > "$D/out"; has "T13 each step once" '^once$'; submit; has "T13 what is done is no job" '3 hit, 0 ran'
rm "$D/begins"; steps "$few" 300 5; rm .redsi/head/run.log; submit; until_is '[ -s "$D/begins" ]'
scancel "$(squeue -h -o '%A %j' | sed -n 's/ .*-head$//p')"; head_ended; has "T13 scancel cancels the run" 'was cancelled'
exit $failed
