# What every step of a command does. It leaves a mark for each time that it runs, in the last folder of PATH, which is the one
# variable that a step gets from its worker and that is in no key. Arguments: the step's mark, tenths of a second to work for,
# and how many pieces it leaves. A step whose mark begins with once- dies the first time that it runs.
marks=${PATH##*:}
echo $$ >>"$marks/$1"
case $1 in once-*)
  if [ ! -e "$marks/died.$1" ]; then
    : >"$marks/died.$1"
    echo "dying once" >&2
    kill -9 $$
  fi
esac
i=0
while [ $i -lt "$2" ]; do
  sleep 0.1
  i=$((i+1))
  echo "$i of $2" >&2
done
{ echo "$1"; find in -type f | sort | while read -r f; do cat "$f"; done; } |
  awk '{ s = (s * 31 + length($0) * 7 + NR) % 1000003; print } END { print "sum " s }' >all
n=0
while [ $n -lt "${3:-0}" ]; do
  echo "$n" >"out/pieces/n$n"
  n=$((n+1))
done
tail -c 20000 all >out/text
awk 'END { printf "{\"lines\": %d}\n", NR }' all >out/numbers.json
