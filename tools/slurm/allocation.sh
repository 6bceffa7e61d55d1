# What a job has: slurm's calls, processors and memory.
mkdir "$P/site"; REDSI_TEST_SLURM=$P/site "$tests" -test.run TestSite -test.v > "$P/out" 2>&1 || true
has "jobs are submitted, found and taken back" '^--- PASS: TestSite'

ends "$(job "-n1 $redsi doctor" -c1 --mem=600)"
has "B3, T6 a job of one processor and 600 MiB has no more, where nothing is enforced" 'batch job *slurm [0-9]* on n1: 1 processor, 629 MB'
ends "$(job "-n2 $redsi doctor" -n2 -c2 --mem=1200 --time=5)"
has "B5 two tasks share" '2 processors, 629 MB of memory for steps of each of its 2 tasks here'
