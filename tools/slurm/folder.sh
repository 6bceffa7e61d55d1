# A state folder whose server jobs reach.
sleeper; serve --slots 1
job "-n1 $redsi worker --state $P/p/.redsi --idle-exit 3s" -c1 --mem=600 >/dev/null; until_is 'grep -q "worker started" "$P/out" 2>/dev/null'
"$redsi" run --slots 1 --var sleep=8 > "$P/run" 2>&1 & run=$!; until_is '[ -s "$P/begins" ]'
{ kill -9 $run $head; wait $run $head; } 2>/dev/null || true; until_is '[ ! -e .redsi/temporal/server.json ]'; serve --slots 1
"$redsi" attach > "$P/out" 2>&1 || true; kill $head; wait $head || true
has "B12, B13 a job joins the folder's server, and a run outlives its head" 'has ended: 0 hit, 1 ran'

# two workers of the folder's server; then a step that none has room for
rm "$P/begins"; serve; "$redsi" run > "$P/run" 2>&1 & run=$!
a=$(job "-n1 $redsi worker --state $P/p/.redsi" -c1 --mem=600); until_is '[ -s "$P/begins" ]'
b=$(job "-n1 $redsi worker --state $P/p/.redsi" -c1 --mem=600); until_is 'grep -q "worker started" "$P/out" 2>/dev/null'
scancel "$a"; from=$(date +%s%N); until_is '[ "$(wc -l < "$P/begins")" = 2 ]'; took=$((($(date +%s%N) - from) / 1000000))
[ $took -lt 2000 ] && echo soon > "$P/out" || echo "after $took ms" > "$P/out"; has "T4 the step of a cancelled worker begins elsewhere within two seconds" '^soon$'
kill -INT $run; wait $run || true; scancel "$b"; steps '["a"]' 1 1 'memory = "2GB"'
"$redsi" run > "$P/run" 2>&1 & run=$!
c=$(job "-n1 $redsi worker --state $P/p/.redsi --idle-exit 8s" -c1 --mem=600); until_is 'grep -q "worker started" "$P/out" 2>/dev/null'; from=$SECONDS
until_is '"$redsi" status > "$P/status" 2>&1; grep -q "waiting for another worker" "$P/status" || [ $((SECONDS - from)) -gt 30 ]'; ends "$c"
echo "after $((SECONDS - from)) s" >> "$P/out"; has "T7 a step that a worker has no room for does not keep it" '^after [0-9] s$\|^after 1[0-9] s$'
cp "$P/status" "$P/out"; has "T7 it was offered the step" 'waiting for another worker'
kill -INT $run; wait $run || true; kill $head; wait $head || true
