#!/bin/sh
# Makes project.txtar anew: a project as DVC leaves it, with nothing checked out. Needs git, and venvs:
#   python3 -m venv v3 && v3/bin/pip install dvc==3.67.1; python3 -m venv v2 && v2/bin/pip install dvc==2.58.2 'pathspec<0.12'
#   V3=$PWD/v3 V2=$PWD/v2 tools/golden/dvc_project.sh
set -eu
here=$(cd "$(dirname "$0")/../../internal/host/tracked/testdata" && pwd) work=$(mktemp -d)
export DVC_NO_ANALYTICS=1
cd "$work" && git init -q project && cd project
"$V3/bin/dvc" init -q
printf 'one\r\ntwo\r\n' > old.csv && mkdir olds && cp old.csv olds/c.csv
"$V2/bin/dvc" add -q old.csv olds # texts count with \n there, and "hash" is not written
mkdir -p data/raw/sub pipe
printf 'a\nb\n' > data/big.csv
echo x > data/raw/a.csv && echo y > data/raw/sub/b.csv && : > data/raw/empty
printf '#!/bin/sh\necho hi\n' > tool && chmod +x tool
echo far > data/far.csv && echo gone > data/gone.csv
"$V3/bin/dvc" add -q data/big.csv data/raw data/far.csv data/gone.csv tool
cat > pipe/dvc.yaml <<'Y'
stages:
  one: {wdir: made, cmd: echo 1 > out.csv, outs: [out.csv]}
  each:
    foreach: [u, v]
    do:
      cmd: mkdir d${item}; echo ${item} > d${item}/x
      outs: ["d${item}"]
Y
mkdir pipe/made && (cd pipe && "$V3/bin/dvc" repro -q)
"$V3/bin/dvc" remote add -d store ../remote && "$V3/bin/dvc" push -q data/far.csv && rm -rf .dvc/tmp
far=$(sed -n 's/.*md5: \(..\)\(.*\)/\1\/\2/p' data/far.csv.dvc) gone=$(sed -n 's/.*md5: \(..\)\(.*\)/\1\/\2/p' data/gone.csv.dvc)
rm -f ".dvc/cache/files/md5/$far" ".dvc/cache/files/md5/$gone"
rm -rf data/big.csv data/raw data/far.csv data/gone.csv tool old.csv olds pipe/made pipe/du pipe/dv
cd .. && {
	echo "Made by tools/golden/dvc_project.sh with DVC 3.67.1, and 2.58.2 for old.csv and olds."
	find project remote -type f ! -path '*/.git/*' ! -name .gitignore ! -name .dvcignore | LC_ALL=C sort | while read -r f; do
		echo "-- $f --"; cat "$f"; case $f in *.dir) echo;; esac # which the test takes away
	done
} > "$here/project.txtar"
rm -rf "$work"
