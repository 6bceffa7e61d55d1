# A state folder whose server jobs reach.
sleeper; serve --slots 1
job "-n1 $redsi worker --state $P/p/.redsi --idle-exit 3s" -c1 --mem=600 >/dev/null; until_is 'grep -q "worker started" "$P/out" 2>/dev/null'
"$redsi" run --slots 1 --var sleep=8 > "$P/run" 2>&1 & run=$!; until_is '[ -s "$P/begins" ]'
{ kill -9 $run $head; wait $run $head; } 2>/dev/null || true; until_is '[ ! -e .redsi/temporal/server.json ]'; serve --slots 1
"$redsi" attach > "$P/out" 2>&1 || true; kill $head; wait $head || true
has "B12, B13 a job joins the folder's server, and a run outlives its head" 'has ended: 0 hit, 1 ran'
