# redsi run --slurm --as-job: T13 the run's job is followed by another one, each step once; scancel cancels the run
heads() { squeue -h -o '%A %j' | sed -n 's/ .*-head$//p'; }
head_ended() { until_is '[ -z "$(heads)" ]'; cp .redsi/head/run.log "$P/out"; }
submit() { "$redsi" run --slurm --as-job 5m --listen 127.0.0.1 > "$P/out" 2>&1 || true; }
block; steps "$few" 10 4; submit; id=$(sed -n 's/^submitted the run as job \([0-9]*\);.*/\1/p' "$P/out")
has "T13 the run is a job" '^submitted the run as job'; submit; has "T13 which there is one of" "^job $id keeps a run of this state folder and store already"
until_is '[ -s "$P/begins" ]'; scancel --batch --signal=USR1 "$id"; ends "$id"
"$redsi" status > "$P/out" 2>&1; has "T13 status shows the job that follows" 'pilots  head 1 running'
head_ended; has "T13 it goes on with the run" "this job goes on with the run of job $id"; has "T13 which ends" '0 hit, 3 ran'
once 3 > "$P/out"; has "T13 each step once" '^once$'; submit; has "T13 what is done is no job" '3 hit, 0 ran'
rm "$P/begins"; steps "$few" 300 5; rm .redsi/head/run.log; submit; until_is '[ -s "$P/begins" ]'
scancel "$(heads)"; head_ended; has "T13 scancel cancels the run" 'was cancelled'
