# A Slurm that takes no more jobs for now: a program in PATH refuses in its words before it hands on to the real one.
mkdir "$P/bin"
cat > "$P/bin/sbatch" <<EOF
#!/bin/bash
case " \$* " in *" --parsable "*) date +%s >> $P/calls; if [ \$(wc -l < $P/calls) = 1 ]; then
  echo "sbatch: error: QOSMaxSubmitJobPerUserLimit" >&2
  echo "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)" >&2; exit 1; fi;; esac
exec $(command -v sbatch) "\$@"
EOF
chmod 755 "$P/bin/sbatch"; PATH=$P/bin:$PATH
steps "$few" 1 1; "$redsi" run --slurm --listen 127.0.0.1 --pilot cpus=1,memory=300MB,time=5m,max=4,idle=3s > "$P/out" 2>&1 || true
has "T10 a refusal is shown, with the pause" 'Slurm takes no pilots: sbatch: .*QOSMaxSubmitJobPerUserLimit.*the next try is in 1m0s'
has "T10 which is what steps wait for" 'waiting for pilots: Slurm takes no pilots'
has "T10 and waited out" '0 hit, 3 ran'
set -- $(cat "$P/calls"); [ $# = 2 ] && [ $(($2 - $1)) -ge 59 ] && echo waited > "$P/out" || cp "$P/calls" "$P/out"; has "T10 without a call meanwhile" '^waited$'
