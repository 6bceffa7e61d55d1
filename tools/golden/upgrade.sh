#!/bin/sh
# upgrade.sh REDSI OUT.tar.gz: what a release leaves on a disk, for the tests that later ones open it.
# A folder with a finished run, a saved plan of it, a pin of a source that is not there any more, a saved plan of a change, and a run of that
# change that was killed: its workflow is open in the server's database. It is made in /tmp/redsi-upgrade, the path
# that stands in the saved plans. The programs of its steps are texts of the pipeline, so that the keys are the same
# on every machine.
set -eu
redsi=$(realpath "$1") out=$(realpath -m "$2")
dir=/tmp/redsi-upgrade
rm -rf "$dir" && mkdir -p "$dir/data" && cd "$dir"
printf 'one line\nanother\n' >data/source.txt # published on this machine's port 47123
cat >work.sh <<'EOF'
#!/bin/sh
cat in/source/* | tr a-z A-Z >out/text
wc -l <out/text | awk '{ printf "{\"lines\": %d}\n", $1 }' >out/numbers.json
EOF
cat >slow.sh <<'EOF'
#!/bin/sh
marks=${PATH##*:}
[ ! -e "$marks/hold" ] || : >"$marks/began"
while [ -e "$marks/hold" ]; do sleep 0.1; done
echo done >out/nothing
EOF
cat >pipelines.hcl <<'EOF'
variable "more" { default = "" }
step "download" "source" { urls = ["http://127.0.0.1:47123/source.txt"] }
step "command" "work" {
  for_each = toset(["a", "b"])
  argv     = ["./work.sh", each.key]
  files    = { "work.sh" = file("work.sh") }
  inputs   = { "source" = step.download.source.files }
  outputs  = ["text", "numbers.json"]
}
step "command" "more" {
  for_each = toset(var.more == "" ? [] : [var.more])
  argv     = ["./slow.sh"]
  files    = { "slow.sh" = file("slow.sh") }
  outputs  = ["nothing"]
}
table "lines" {
  caption = "Lines."
  stubs   = ["Step"]
  columns = [{ id = "lines", title = "Lines", format = "integer" }]
  rows    = [for k in ["a", "b"] : { id = k, titles = [k], value = step.command.work[k].out, at = "numbers.json:" }]
}
EOF
python3 -m http.server --bind 127.0.0.1 --directory data 47123 2>/dev/null & web=$!
trap 'kill $web' EXIT
mkdir marks && : >marks/hold && export PATH="$PATH:$dir/marks"
"$redsi" run --quiet
"$redsi" plan --out whole.plan
"$redsi" plan --var more=slow --out change.plan
"$redsi" run --quiet --var more=slow & pid=$!
until [ -e marks/began ]; do sleep 0.1; done
sleep 2 # the server has written by then that it began
kill -9 $pid
wait $pid || true
sleep 6 # and is gone
rm -rf marks data .redsi/temporal/temporal.log .redsi/temporal/tls # keys are made anew
cd .. && tar --sort=name --owner=0 --group=0 --mtime=2026-01-01 -cf - redsi-upgrade | gzip -9n >"$out"
rm -rf "$dir"
ls -l "$out"
