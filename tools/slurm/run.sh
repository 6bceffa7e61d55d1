# redsi run --slurm: T1 twelve steps once, few calls, pilots leave; T2 refused; T5 a killed command; T11 cancelled without a worker
mkdir "$P/bin"; true > "$P/calls"
printf '#!/bin/bash\ncase " $* " in *" --parsable "*) echo x >> %s/calls;; esac\nexec %s "$@"\n' "$P" "$(command -v sbatch)" > "$P/bin/sbatch"
chmod 755 "$P/bin/sbatch"; PATH=$P/bin:$PATH
gone() { until_is '! squeue -h -o %j | grep "^redsi-.*-cpu$" > /dev/null'; } # not -q: squeue would fail of a closed pipe
block; steps "$few" 1 0 'memory = "1GB"'; "$redsi" run --slurm --listen 127.0.0.1 > "$P/out" 2>&1 || true; wc -l < "$P/calls" >> "$P/out"
has "T2 a step that no pilot holds is refused" 'pilot cpu (redsi.local.hcl:2) has 300 MB'; has "T2 nothing is submitted" '^0$'
rm -f "$P/begins"; steps "$many" 0.5 1; SBATCH_EXPORT=NONE "$redsi" run --slurm --listen 127.0.0.1 > "$P/out" 2>&1 || true
has "T1 pilots do the steps, also of a site that passes no variables on" '0 hit, 12 ran'; grep 'took back' "$P/out" > "$P/back" || true; once 12 > "$P/out"; has "T1 each once" '^once$'
[ -s "$P/back" ] && cp "$P/back" "$P/out" || echo none > "$P/out"; has "T1 no pilot that has begun is said to be taken back" '^none$'
wc -l < "$P/calls" > "$P/out"; has "T1 at most three submissions" '^[123]$'; gone
steps "$many" 0.5 4; timeout 60 "$redsi" run --slurm --listen 127.0.0.1 > "$P/out" 2>&1 || true; has "steps that are known to be short have pilots" '0 hit, 12 ran'; gone
rm -f "$P/begins"; steps "$few" 8 2; "$redsi" run --slurm --listen 127.0.0.1 > "$P/run" 2>&1 & run=$!; until_is '[ -s "$P/begins" ]'
{ kill -9 $run; wait $run; } 2>/dev/null || true; "$redsi" run --slurm --listen 127.0.0.1 > "$P/out" 2>&1 || true
has "T5 the next command goes on with the run" 'is still open: it goes on'; has "T5 which ends" '0 hit, 3 ran'
once 3 > "$P/out"; has "T5 each step once" '^once$'; gone
block 'flags  = ["--begin=now+1hour"]'; steps "$few" 1 3; "$redsi" run --slurm --listen 127.0.0.1 > "$P/out" 2>&1 & run=$!
until_is 'grep -q submitted "$P/out"'; until_is '"$redsi" status > "$P/status"; grep -q BeginTime "$P/status"'; kill -INT $run; wait $run || true
has "T11 a run without a worker is cancelled" 'was cancelled'; has "T11 pilots are taken back" 'took back pilots that had not begun'
cp "$P/status" "$P/out"; has "status shows pilots" 'pilots  cpu [1-4] pending (BeginTime)'; gone
