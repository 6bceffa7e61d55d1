# Workers in jobs, for a server that is started apart.
sleeper
export TEMPORAL_CONFIG_FILE=$P/temporal/temporal.toml; mkdir "$P/temporal"
"$server" --dir "$P/temporal" --port 0 --idle 1h --attribute RedsiPipeline --attribute RedsiStep --attribute RedsiKey --attribute RedsiOutcome 2> "$P/server.log" &
until_is '[ -s "$TEMPORAL_CONFIG_FILE" ]'
printf 'slurm {\n  pilot "one" {\n    cpus   = 1\n    memory = "600MB"\n    time   = "5m"\n  }\n}\n' > redsi.local.hcl
"$redsi" plan --slurm > "$P/out" 2>&1
has "plan --slurm says when a pilot could start" 'pilots    one: 1 step.*could start at 20'
"$redsi" worker --slurm-script --temporal-profile redsi --idle-exit 1s > "$P/one.sh"; ends "$(sbatch --parsable --output="$P/out" "$P/one.sh")"
has "the file of worker --slurm-script starts a worker" 'worker started temporal='
"$redsi" run --temporal-profile redsi --var sleep=40 > "$P/run" 2>&1 & run=$!
for _ in 1 2 3; do ends "$(job "-n1 $redsi worker --temporal-profile redsi --until 10s --idle-exit 8s" -c1 --mem=600)"; done
{ kill -9 $run; wait $run; } 2>/dev/null || true; cp "$P/begins" "$P/out"; [ "$(wc -l < "$P/begins")" -gt 2 ] && echo "too many begins" > "$P/out"
has "B7, T9 a step that is too long for workers is begun at most twice" '^begin$'
