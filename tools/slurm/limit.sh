# The time limit, which Slurm looks at every 30 seconds. Without control groups its signals reach the run's server too, and the step may be offered anew.
sleeper; id=$(job "-n1 $redsi run" -c1 --mem=900 --time=1); until_is '[ -s "$P/begins" ]'
until_is 'grep -q cancelling "$P/out"' > /dev/null || until_is 'grep -q cancelling "$P/out"'; ends "$id"
cp "$P/out" "$P/said"; scontrol show job "$id" > "$P/out"; has "T3 the job is ended by its limit" 'JobState=TIMEOUT'
over=$(date -d "$(sed -n "s/^\[\(.*\)\..*Time limit exhausted for JobId=$id\$/\1/p" "$D/slurmctld.log")" +%s) end=$(date -d "$(sed -n 's/.*EndTime=\([^ ]*\).*/\1/p' "$P/out")" +%s)
[ $((end - over)) -lt 25 ] && echo fast > "$P/out"; has "T3 it ends before Slurm kills it" '^fast$'
cp "$P/said" "$P/out"; has "T3 its run is cancelled in order" 'was cancelled: 0 hit, 0 ran, 1 '
"$redsi" status > "$P/out" 2>&1 || true; has "T3 and has a record" '^last run: .*1 \(cancelled\|not started\)'
