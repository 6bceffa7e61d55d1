# What ends a job.
sleeper
id=$(job "-n1 $redsi run" -c1 --mem=900); until_is '[ -s "$P/begins" ]'
for s in TERM CONT TERM INT; do scancel --signal=$s "$id" & done; wait; ends "$id"
has "B9 signals at once are one" 'was cancelled: 0 hit, 0 ran, 1 cancelled'
