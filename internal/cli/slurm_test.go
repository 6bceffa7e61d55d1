package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/internal/system/filetest"
)

// slurmHere has programs of Slurm on PATH that begin jobs as processes here, at once: env is for a command that shall
// have them, calls are the lines that a program was called with.
func slurmHere(t *testing.T) (env []string, calls func(program string) []string) {
	t.Helper()
	bin, self := t.TempDir(), filepath.Join(t.TempDir(), "redsi")
	program, err := os.Executable()
	errtest.None(t, err)
	errtest.None(t, os.Symlink(program, self))
	calls = func(program string) []string {
		b, _ := os.ReadFile(filepath.Join(bin, program+".calls"))
		return strings.Split(strings.TrimSpace(string(b)), "\n")
	}
	for name, does := range map[string]string{
		"sbatch": `sed 's|` + program + `|` + self + `|' > script.$$
n=1
for word; do case $word in --array=1-*) n=${word#--array=1-};; --job-name=*) name=${word#*=};; esac; done
for i in $(seq $n); do
  (cd "$OLDPWD"; SLURM_CPUS_PER_TASK=1 exec setsid bash ` + bin + `/script.$$) > log.$$_$i 2>&1 &
  echo "$! $$_$i|$name|RUNNING|N/A|N/A|here|None" >> jobs
done
echo $$`,
		"squeue": `touch jobs
for word; do case $word in --name=*) names=,${word#*=},;; esac; done
while IFS=' |' read -r pid id name rest; do case $names in *,$name,*) if kill -0 $pid; then echo "$id|$name|$rest"; fi;; esac; done < jobs`,
		"scancel":  ``,
		"scontrol": `echo "   Requeue=1 Restarts=$(ls | grep -c ^restarted) BatchFlag=1"`,
		"srun":     `while [ "$1" != worker ]; do shift; done; exec ` + self + ` "$@"`,
	} {
		filetest.Program(t, filepath.Join(bin, name), "#!/bin/bash\ncd "+bin+"\necho \"$*\" >> "+name+".calls\n"+does+"\n")
	}
	t.Cleanup(func() { // what a failed test leaves
		b, _ := os.ReadFile(filepath.Join(bin, "jobs"))
		for line := range strings.Lines(string(b)) {
			var pid int
			if _, err := fmt.Sscan(line, &pid); err == nil {
				_ = syscall.Kill(-pid, syscall.SIGKILL)
			}
		}
		if t.Failed() {
			logs, _ := filepath.Glob(filepath.Join(bin, "log.*"))
			for _, f := range logs {
				b, _ := os.ReadFile(f)
				t.Logf("%s\n%s", f, b)
			}
		}
	})
	return []string{"PATH=" + bin + ":" + os.Getenv("PATH")}, calls
}

const site = `slurm {
  pilot "small" {
    cpus   = 2
    memory = "1GB"
    time   = "10m"
    idle   = "1s"
  }
}
`

// TestRunSlurm: the command does no steps, jobs do. They leave when there are none. If it is killed, they go on, and the
// next one goes on with its run and its jobs, and submits none.
func TestRunSlurm(t *testing.T) {
	t.Parallel()
	env, calls := slurmHere(t)
	dir, open := gated(t, 2)
	filetest.Write(t, filepath.Join(dir, "redsi.local.hcl"), site)
	args := []string{"run", "--quiet", "--slurm", "--listen", second(t)}
	first := startRedsiWith(t, dir, env, args...)
	first.says(t, "submitted 1 pilot small as ")
	first.says(t, "RUN")
	id, _, _ := strings.Cut(strings.SplitAfter(first.out.String(), "run ")[1], "\n")
	errtest.None(t, first.Process.Kill())
	<-first.done
	second := startRedsiWith(t, dir, env, args...)
	second.says(t, "run "+id+" of this plan is still open: it goes on")
	second.says(t, "RUN")
	open()
	second.succeeds(t)
	if said := second.out.String(); !strings.Contains(said, "0 hit, 2 ran") || strings.Contains(said, "submitted") {
		t.Errorf("it said:\n%s", said)
	}
	if all := calls("sbatch"); len(all) != 1 || !strings.Contains(all[0], "--cpus-per-task=2") || !strings.Contains(all[0], "--array=1-1") {
		t.Errorf("sbatch was called with %q", all)
	}
}

// TestAsJob: the command is a job, which does what it was told. A SIGTERM for its script alone, as control groups have it, leaves
// the run if Slurm has queued the job again, and cancels it otherwise.
func TestAsJob(t *testing.T) {
	t.Parallel()
	env, _ := slurmHere(t)
	dir, _ := gated(t, 2)
	bin, _, _ := strings.Cut(strings.TrimPrefix(env[0], "PATH="), ":")
	filetest.Write(t, filepath.Join(dir, "redsi.local.hcl"), site)
	args := []string{"run", "--slurm", "--as-job=24h", "--listen", second(t), "--target", "step.command.one[\"1\"]"}
	submit := func() (log func() string, pid int) {
		p := startRedsiWith(t, dir, env, args...)
		p.succeeds(t)
		_, after, _ := strings.Cut(p.out.String(), "submitted the run as job ")
		id, _, _ := strings.Cut(after, ";")
		jobs, err := os.ReadFile(filepath.Join(bin, "jobs"))
		errtest.None(t, err)
		before, _, found := strings.Cut(string(jobs), " "+id+"_1|")
		if !found {
			t.Fatalf("%s\n%s", p.out, jobs)
		}
		_, err = fmt.Sscan(before[strings.LastIndex(before, "\n")+1:], &pid)
		errtest.None(t, err)
		return func() string {
			b, _ := os.ReadFile(filepath.Join(bin, "log."+id+"_1"))
			return string(b)
		}, pid
	}
	says := func(log func() string, text string) {
		t.Helper()
		awaitTrue(t, text, func() bool { return strings.Contains(log(), text) })
	}
	ends := func(pid int) {
		t.Helper()
		errtest.None(t, syscall.Kill(pid, syscall.SIGTERM))
		awaitTrue(t, "the job ends", func() bool { return syscall.Kill(pid, 0) != nil })
	}
	log, pid := submit()
	says(log, `RUN    step.command.one["1"]`)
	filetest.Write(t, filepath.Join(bin, "restarted"), "")
	ends(pid)
	errtest.None(t, os.Remove(filepath.Join(bin, "restarted")))
	log, pid = submit()
	says(log, "of this plan is still open: it goes on")
	says(log, `RUN    step.command.one["1"]`)
	ends(pid)
	if said := log(); !strings.Contains(said, "was cancelled: 0 hit, 0 ran, 1 cancelled\n") {
		t.Error(said)
	}
}

// TestRunSlurmRefuses: before anything is submitted.
func TestRunSlurmRefuses(t *testing.T) {
	t.Parallel()
	env, calls := slurmHere(t)
	dir := projectOf(t, 1, "true")
	file := filepath.Join(dir, "pipelines.hcl")
	src, err := os.ReadFile(file)
	errtest.None(t, err)
	filetest.Write(t, file, strings.Replace(string(src), "{", "{\n  resources {\n    memory = \"2GB\"\n  }", 1))
	filetest.Write(t, filepath.Join(dir, "redsi.local.hcl"), site)
	for want, args := range map[string][]string{
		"pilot small (redsi.local.hcl:2) has 1.0 GB": {"--slurm"},
		"pilot pilot (--pilot) has 1.0 GB":           {"--slurm", "--pilot", "cpus=1,memory=1GB,time=10m", "--", "--partition=x"},
		"but a cluster is named":                     {"--slurm", "--temporal-address", "127.0.0.1:1"},
		"--pilot is of --slurm":                      {"--pilot", "cpus=1,memory=1GB,time=10m"},
		"what follows -- is for sbatch":              {"--slurm", "--", "--partition=x"},
		"--listen is of --slurm":                     {"--listen", "127.0.0.2"},
		"with --slurm this command submits":          {"--slurm", "--detach"},
		"--as-job is of --slurm":                     {"--as-job", "1h"},
		"--as-job: want a time of 5m0s or more":      {"--slurm", "--as-job", "1m"},
		"--watch cannot be used with --as-job":       {"--slurm", "--as-job", "1h", "--watch"},
	} {
		p := startRedsiWith(t, dir, env, append([]string{"run"}, args...)...)
		<-p.done
		if out := p.out.String(); p.err == nil || !strings.Contains(out, want) {
			t.Errorf("%q did not say %q: %v\n%s", args, want, p.err, out)
		}
	}
	if all := calls("sbatch"); all[0] != "" {
		t.Errorf("sbatch was called with %q", all)
	}
}
