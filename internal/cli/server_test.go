package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/host/devserver"
	"github.com/redsi/redsi/internal/system/testkit"
)

// serverPatience bounds what a busy machine may take.
const serverPatience = 8 * time.Minute

// project is a folder with a pipeline of n steps that each take a moment.
func project(t *testing.T, n int) string { return projectOf(t, n, "sleep 0.1") }

// gated is a project whose steps do not end before open is called.
func gated(t *testing.T, n int) (dir string, open func()) { return gatedFrom(t, n, 0) }

// gatedFrom is a project of n steps that each take a moment; those from a number on do not
// end before open is called.
func gatedFrom(t *testing.T, n, from int) (dir string, open func()) {
	gate := filepath.Join(t.TempDir(), "gate")
	return projectOf(t, n, fmt.Sprintf("if test ${each.key} -lt %d; then sleep 0.1; else until test -e %s; do sleep 0.1; done; fi", from, gate)), func() {
		testkit.Write(t, gate, "")
	}
}

func projectOf(t *testing.T, n int, work string) string {
	t.Helper()
	dir := t.TempDir()
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf("%q", fmt.Sprint(i)))
	}
	src := fmt.Sprintf(`step "command" "one" {
  for_each = [%s]
  argv     = ["sh", "-c", "%s; echo ${each.key} > out/out.txt"]
  outputs  = ["out.txt"]
}
`, strings.Join(keys, ", "), work)
	testkit.Write(t, filepath.Join(dir, "pipelines.hcl"), src)
	t.Cleanup(func() { // the folder goes when the server has
		awaitTrue(t, "the server ends", func() bool { _, ok := devserver.Running(filepath.Join(dir, ".redsi", "temporal")); return !ok })
	})
	return dir
}

// redsiProcess is this program, running as redsi in dir.
type redsiProcess struct {
	*exec.Cmd
	out  *lockedBuffer
	done chan struct{}
	err  error
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func startRedsi(t *testing.T, dir string, args ...string) *redsiProcess {
	t.Helper()
	return startRedsiWith(t, dir, nil, args...)
}

// startRedsiWith starts it with variables of the environment.
func startRedsiWith(t *testing.T, dir string, env []string, args ...string) *redsiProcess {
	t.Helper()
	self, err := os.Executable()
	testkit.None(t, err)
	as := filepath.Join(t.TempDir(), "redsi") // testscript runs the command of that name
	testkit.None(t, os.Symlink(self, as))
	p := &redsiProcess{Cmd: exec.Command(as, args...), out: &lockedBuffer{}, done: make(chan struct{})}
	p.Dir, p.Stdout, p.Stderr, p.Env = dir, p.out, p.out, append(os.Environ(), env...)
	testkit.None(t, p.Start())
	go func() { p.err = p.Wait(); close(p.done) }()
	t.Cleanup(func() { _ = p.Process.Kill(); <-p.done })
	return p
}

// succeeds waits for the end of a process, which is a good one.
func (p *redsiProcess) succeeds(t *testing.T) {
	t.Helper()
	select {
	case <-p.done:
		if p.err != nil {
			t.Fatalf("%v: %v\n%s", p.Args[1:], p.err, p.out)
		}
	case <-time.After(serverPatience):
		t.Fatalf("%v has not ended:\n%s", p.Args[1:], p.out)
	}
}

// fails waits for the end of a process, which says why it could not do what it was told.
func (p *redsiProcess) fails(t *testing.T, texts ...string) {
	t.Helper()
	<-p.done
	for _, text := range texts {
		if out := p.out.String(); p.err == nil || !strings.Contains(out, text) {
			t.Errorf("%q did not say %q: %v\n%s", p.Args[1:], text, p.err, out)
		}
	}
}

// goesOn fails if the process has ended.
func (p *redsiProcess) goesOn(t *testing.T) {
	t.Helper()
	select {
	case <-p.done:
		t.Fatalf("%v has ended: %v\n%s", p.Args[1:], p.err, p.out)
	default:
	}
}

// says waits until the process, which goes on, has said something.
func (p *redsiProcess) says(t *testing.T, text string) {
	t.Helper()
	awaitTrue(t, fmt.Sprintf("%v says %q", p.Args[1:], text), func() bool {
		said := strings.Contains(p.out.String(), text)
		if !said {
			p.goesOn(t)
		}
		return said
	})
}

func awaitTrue(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(serverPatience); !f(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// nextServer waits for a server of dir other than the last.
func nextServer(t *testing.T, dir string, last int, p *redsiProcess) (pid int) {
	t.Helper()
	awaitTrue(t, "a server answers", func() bool {
		p.goesOn(t)
		i, ok := devserver.Running(filepath.Join(dir, ".redsi", "temporal"))
		pid = i.PID
		return ok && pid != last
	})
	return pid
}

// TestServerKilled20Times: a run whose server is killed 20 times ends well.
func TestServerKilled20Times(t *testing.T) {
	t.Parallel()
	dir, open := gatedFrom(t, 60, 59) // however fast the machine is, the run has not ended before the last kill
	run := startRedsi(t, dir, "run", "--quiet")
	run.says(t, "RUN")
	pid, r := 0, rand.New(rand.NewPCG(10, 8))
	for range 20 {
		pid = nextServer(t, dir, pid, run)
		time.Sleep(time.Duration(r.IntN(1000)) * time.Millisecond) // some die at once, some at work
		testkit.None(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	open()
	run.succeeds(t)
	said := run.out.String()
	testkit.Says(t, said, "60 steps: ", "was started in its place")
}

// TestLeaverHarmsNobody: who started the server leaves by Ctrl-C, and another one
// is stopped for a while: the run that shares the server ends well.
func TestLeaverHarmsNobody(t *testing.T) {
	t.Parallel()
	dir, open := gated(t, 100)
	first := startRedsi(t, dir, "run", "--quiet")
	first.says(t, "RUN")
	second := startRedsi(t, dir, "run", "--quiet") // its steps wait: all slots have the first run's
	second.says(t, "Temporal UI:")
	pid := nextServer(t, dir, 0, second)
	testkit.None(t, first.Process.Signal(syscall.SIGINT))
	testkit.None(t, syscall.Kill(pid, syscall.SIGSTOP))
	second.says(t, "is stopped (state T)")
	testkit.None(t, syscall.Kill(pid, syscall.SIGCONT))
	open()
	second.succeeds(t)
	<-first.done
	if !strings.Contains(first.out.String(), "was cancelled") {
		t.Errorf("the first run said:\n%s", first.out)
	}
}

// TestDevServerKilled: redsi dev survives its server, and so does a run beside it.
func TestDevServerKilled(t *testing.T) {
	t.Parallel()
	dir := project(t, 20)
	dev := startRedsi(t, dir, "dev", "--port", "0", "--ui-port", "0")
	pid := nextServer(t, dir, 0, dev)
	testkit.None(t, syscall.Kill(pid, syscall.SIGKILL))
	startRedsi(t, dir, "run", "--quiet").succeeds(t)
	testkit.None(t, dev.Process.Signal(syscall.SIGINT))
	dev.succeeds(t)
}

// TestStoresOfOneServer: runs with two stores share the server of a state folder, each done by workers with its store, on both
// queues: the process of one run, and a worker of the other's, whose process leaves steps to it.
func TestStoresOfOneServer(t *testing.T) {
	t.Parallel()
	const steps = 4
	one, openOne := gated(t, steps)
	two, openTwo := gated(t, steps)
	for _, dir := range []string{one, two} {
		file := filepath.Join(dir, "pipelines.hcl")
		src, err := os.ReadFile(file)
		testkit.None(t, err)
		testkit.Write(t, file, string(src)+"\n"+strings.Replace(oneStep, `"one" {`, `"card" {
  resources {
    queue = "gpu"
  }`, 1))
	}
	state := filepath.Join(one, ".redsi")
	first := startRedsi(t, one, "run")
	first.says(t, "step.command.one")
	second := startRedsi(t, two, "run", "--state", state, "--store", "store", "--slots", "0")
	profile := "TEMPORAL_CONFIG_FILE=" + filepath.Join(state, "temporal", devserver.ProfileFile)
	startRedsiWith(t, two, []string{profile}, "worker", "--temporal-profile", devserver.ProfileName, "--allow-cpu", "--store", "store", "--state", filepath.Join(two, ".redsi"))
	openTwo()
	second.succeeds(t)
	openOne()
	first.succeeds(t)
	for _, p := range []*redsiProcess{first, second} {
		if want := fmt.Sprintf("0 hit, %d ran", steps+1); !strings.Contains(p.out.String(), want) {
			t.Errorf("%v did not say %q:\n%s", p.Args[1:], want, p.out)
		}
	}
}

// second is another loopback address of this machine: Linux has all of 127.0.0.0/8.
func second(t *testing.T) string {
	t.Helper()
	const address = "127.0.0.2"
	l, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Skip(err)
	}
	testkit.None(t, l.Close())
	return address
}

// TestListeningHead: `redsi dev --listen` says how to start workers. These need the folder alone, and outlive the server; a run
// outlives whoever started it and the server, for its workers live; and a step that fits nobody here waits for one of them.
func TestListeningHead(t *testing.T) {
	t.Parallel()
	address := second(t)
	dir, open := gated(t, 2)
	state := filepath.Join(dir, ".redsi")
	head := func() *redsiProcess {
		p := startRedsi(t, dir, "dev", "--listen", address, "--port", "0", "--ui-port", "0", "--graph-port", "0", "--slots", "1")
		p.says(t, "redsi worker --state "+state+"\n")
		return p
	}
	dev := head()
	worker := startRedsi(t, t.TempDir(), "worker", "--state", state)
	worker.says(t, "worker started")
	run := startRedsi(t, dir, "run", "--quiet", "--slots", "1")
	run.says(t, "RUN")
	for _, p := range []*redsiProcess{run, dev} {
		testkit.None(t, p.Process.Kill())
		<-p.done
	}
	awaitTrue(t, "the server ends", func() bool { _, ok := devserver.Running(filepath.Join(state, "temporal")); return !ok })
	dev = head()
	open()
	attach := startRedsi(t, t.TempDir(), "attach", "--state", state)
	attach.succeeds(t)
	testkit.Says(t, attach.out.String(), "has ended: 0 hit, 2 ran")
	worker.goesOn(t)
	for _, p := range []*redsiProcess{worker, dev} {
		testkit.None(t, p.Process.Signal(syscall.SIGINT))
		p.succeeds(t)
	}
}

// TestWorkerNowhere: a worker whom nobody told of a server, or of one that is not there, says what would.
func TestWorkerNowhere(t *testing.T) {
	t.Parallel()
	for said, args := range map[string][]string{
		"no Temporal server runs for this state folder":    {"worker", "--state", filepath.Join(t.TempDir(), ".redsi")},
		"--temporal-address or a profile, or with --state": {"worker"},
	} {
		startRedsi(t, t.TempDir(), args...).fails(t, said)
	}
}

// slurmHere has programs of Slurm on PATH that begin jobs as processes here, at once: env is for a command that shall
// have them, calls are the lines that a program was called with.
func slurmHere(t *testing.T) (env []string, calls func(program string) []string) {
	t.Helper()
	bin, self := t.TempDir(), filepath.Join(t.TempDir(), "redsi")
	program, err := os.Executable()
	testkit.None(t, err)
	testkit.None(t, os.Symlink(program, self))
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
		testkit.Program(t, filepath.Join(bin, name), "#!/bin/bash\ncd "+bin+"\necho \"$*\" >> "+name+".calls\n"+does+"\n")
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
	testkit.Write(t, filepath.Join(dir, "redsi.local.hcl"), site)
	args := []string{"run", "--quiet", "--slurm", "--listen", second(t)}
	first := startRedsiWith(t, dir, env, args...)
	first.says(t, "submitted 1 pilot small as ")
	first.says(t, "RUN")
	id, _, _ := strings.Cut(strings.SplitAfter(first.out.String(), "run ")[1], "\n")
	testkit.None(t, first.Process.Kill())
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
	testkit.Write(t, filepath.Join(dir, "redsi.local.hcl"), site)
	args := []string{"run", "--slurm", "--as-job=24h", "--listen", second(t), "--target", "step.command.one[\"1\"]"}
	submit := func() (log func() string, pid int) {
		p := startRedsiWith(t, dir, env, args...)
		p.succeeds(t)
		_, after, _ := strings.Cut(p.out.String(), "submitted the run as job ")
		id, _, _ := strings.Cut(after, ";")
		jobs, err := os.ReadFile(filepath.Join(bin, "jobs"))
		testkit.None(t, err)
		before, _, found := strings.Cut(string(jobs), " "+id+"_1|")
		if !found {
			t.Fatalf("%s\n%s", p.out, jobs)
		}
		_, err = fmt.Sscan(before[strings.LastIndex(before, "\n")+1:], &pid)
		testkit.None(t, err)
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
		testkit.None(t, syscall.Kill(pid, syscall.SIGTERM))
		awaitTrue(t, "the job ends", func() bool { return syscall.Kill(pid, 0) != nil })
	}
	log, pid := submit()
	says(log, `RUN    step.command.one["1"]`)
	testkit.Write(t, filepath.Join(bin, "restarted"), "")
	ends(pid)
	testkit.None(t, os.Remove(filepath.Join(bin, "restarted")))
	log, pid = submit()
	says(log, "of this plan is still open: it goes on")
	says(log, `RUN    step.command.one["1"]`)
	ends(pid)
	testkit.Says(t, log(), "was cancelled: 0 hit, 0 ran, 1 cancelled\n")
}

// TestRunSlurmRefuses: before anything is submitted.
func TestRunSlurmRefuses(t *testing.T) {
	t.Parallel()
	env, calls := slurmHere(t)
	dir := projectOf(t, 1, "true")
	file := filepath.Join(dir, "pipelines.hcl")
	src, err := os.ReadFile(file)
	testkit.None(t, err)
	testkit.Write(t, file, strings.Replace(string(src), "{", "{\n  resources {\n    memory = \"2GB\"\n  }", 1))
	testkit.Write(t, filepath.Join(dir, "redsi.local.hcl"), site)
	for want, args := range map[string][]string{
		"pilot small (redsi.local.hcl:2) has 1.0 GB": {"--slurm"},
		"pilot pilot (--pilot) has 1.0 GB":           {"--slurm", "--pilot", "cpus=1,memory=1GB,time=10m", "--", "--partition=x"},
		"but a cluster is named":                     {"--slurm", "--temporal-address", "127.0.0.1:1"},
		"--pilot can be used only with --slurm":      {"--pilot", "cpus=1,memory=1GB,time=10m"},
		"what follows -- is for sbatch":              {"--slurm", "--", "--partition=x"},
		"--listen can be used only with --slurm":     {"--listen", "127.0.0.2"},
		"with --slurm this command submits":          {"--slurm", "--detach"},
		"--as-job can be used only with --slurm":     {"--as-job", "1h"},
		"--as-job: want a time of 5m0s or more":      {"--slurm", "--as-job", "1m"},
		"--watch cannot be used with --as-job":       {"--slurm", "--as-job", "1h", "--watch"},
	} {
		startRedsiWith(t, dir, env, append([]string{"run"}, args...)...).fails(t, want)
	}
	if all := calls("sbatch"); all[0] != "" {
		t.Errorf("sbatch was called with %q", all)
	}
}
