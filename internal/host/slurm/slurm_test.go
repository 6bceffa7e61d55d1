package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/system/testkit"
)

func gpu() Pilot {
	return Pilot{Name: "gpu", Flags: []string{"--partition=a b", "-A", "x"}, Has: capacity.Amount{CPUs: 8, Memory: 32e9, GPUs: 2}, Time: 90*time.Minute + time.Second}
}

// TestScript: memory is rounded up, so that a step that asks for as much as the pilot fits; words keep their spaces.
func TestScript(t *testing.T) {
	j := Job{Pilot: gpu(), Name: "redsi-gpu", Setup: []string{"module load cuda/13", "export A=1"}, Worker: []string{"/opt/red si/redsi", "worker", "--idle-exit=5m0s"}}
	const want = `#!/bin/bash
#SBATCH '--partition=a b'
#SBATCH -A
#SBATCH x
#SBATCH --job-name=redsi-gpu
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --time=91
#SBATCH --no-requeue
#SBATCH --signal=INT@60
#SBATCH --mem=30518M
#SBATCH --gres=gpu:2
set -e
module load cuda/13
export A=1
exec srun --export=ALL --ntasks=1 --cpus-per-task="$SLURM_CPUS_PER_TASK" '/opt/red si/redsi' worker --idle-exit=5m0s
`
	testkit.Is(t, j.Script(), want)
	own := gpu()
	own.Flags = []string{"--mem-per-cpu=4G", "--gres=gpu:a100:2"}
	j = Job{Pilot: own, Name: "n", Worker: []string{"w"}}
	if got := j.Script(); strings.Contains(got, "--mem=") || strings.Contains(got, "--gres=gpu:2") || !strings.Contains(got, "#SBATCH --gres=gpu:a100:2\n") {
		t.Error("what the flags say is said twice:\n", got)
	}
}

// TestHead: a head is in no array and is queued again after its node has failed; its signal comes in good time.
func TestHead(t *testing.T) {
	site := Site{Pilots: []Pilot{gpu(), {Name: "cpu", Flags: []string{"-A", "x"}}}}
	p, err := site.HeadPilot("1h")
	testkit.None(t, err)
	j := Job{Pilot: p, Name: "n", Setup: []string{"module load x"}, Worker: []string{"redsi", "run", "--var=a=b c"}, Output: "/s t/head", Server: "/s t/server.json"}
	const want = "-A x --job-name=n --nodes=1 --ntasks=1 --cpus-per-task=1 --time=60 --requeue --open-mode=append --signal=B:USR1@900 --mem=1908M --output=/s t/head/run.log"
	testkit.Is(t, strings.Join(j.options(), " "), want)
	for _, text := range []string{"\nset -e\nmodule load x\nset +e\n", "\nout='/s t/head' server='/s t/server.json'\n", "\nredsi run '--var=a=b c' &\n", "next=${next%%;*}\n"} {
		testkit.Says(t, j.Script(), text)
	}
	site.Head = []string{"--partition=long"}
	if p, err = site.HeadPilot("24h"); err != nil || !slices.Equal(p.Flags, site.Head) {
		t.Errorf("%+v, %v", p, err)
	}
	j.Pilot = p
	testkit.Says(t, strings.Join(j.options(), " "), " --signal=B:USR1@1800 ")
}

func TestParsePilot(t *testing.T) {
	site, err := ParsePilot("cpus=8, memory=32GB,time=4h,max=8", []string{"--partition=short", "-A", "x"})
	p := Pilot{Name: "pilot", Flags: []string{"--partition=short", "-A", "x"}, Has: capacity.Amount{CPUs: 8, Memory: 32e9}, Time: 4 * time.Hour, Max: 8, Idle: 5 * time.Minute, At: "--pilot"}
	testkit.That(t, err == nil && site.Max == 8 && fmt.Sprint(site.Pilots) == fmt.Sprint([]Pilot{p}), site, err)
	for text, want := range map[string]string{
		"cpus":                            "want settings such as cpus=8,memory=32GB",
		"cores=8":                         "cores: a pilot has cpus, memory, gpus, time, max and idle",
		"cpus=0":                          "from 1 to 1048576, got 0",
		"memory=32":                       `with its unit, such as "32GB"`,
		"time=2m":                         "of 5m0s or more",
		"time=4":                          `such as "90m"`,
		"max=1001":                        "from 1 to 1000",
		"cpus=1":                          "one is missing",
		"cpus=1,memory=1GB,time=1h,idle=": "idle: want a time of 1s or more",
	} {
		testkit.ErrSays(t, testkit.Err(ParsePilot(text, nil)), "--pilot "+text, want)
	}
}

// TestParse: lines as squeue of 22.05 prints them.
func TestParse(t *testing.T) {
	at := func(clock string) time.Time { return when("2026-11-29T" + clock) }
	got, err := parse(`6_4|pil|PENDING|N/A|N/A||Resources
14_1|pil|PENDING|2026-11-29T23:11:29|2026-11-29T23:15:29||BeginTime
19|pil|PENDING|N/A|N/A||Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions
6_1|pil|RUNNING|2026-11-29T22:11:09|2026-11-29T22:15:09|n1|None
13|pil|STOPPED|2026-11-29T22:11:30|2026-11-29T22:15:30|n1|None
15|pil|CONFIGURING|2026-11-29T22:11:30|2026-11-29T22:15:30|n1|None
6_2|pil|COMPLETING|2026-11-29T22:11:09|2026-11-29T22:11:15|n2|None
6_3|pil|COMPLETED|2026-11-29T22:11:09|2026-11-29T22:11:15|n3|None
7|pil|FAILED|2026-11-29T22:11:15|2026-11-29T22:11:15|n3|NonZeroExitCode
14|pil|CANCELLED|2026-11-29T22:11:36|2026-11-29T22:11:36||BeginTime
`)
	want := []Queued{
		{ID: "6_4", State: Pending, Said: "PENDING", Reason: "Resources"},
		{ID: "14_1", State: Pending, Said: "PENDING", Starts: at("23:11:29"), Ends: at("23:15:29"), Reason: "BeginTime"},
		{ID: "19", State: Pending, Said: "PENDING", Reason: "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"},
		{ID: "6_1", State: Running, Said: "RUNNING", Starts: at("22:11:09"), Ends: at("22:15:09"), Reason: "None"},
		{ID: "13", State: Running, Said: "STOPPED", Starts: at("22:11:30"), Ends: at("22:15:30"), Reason: "None"},
		{ID: "15", State: Running, Said: "CONFIGURING", Starts: at("22:11:30"), Ends: at("22:15:30"), Reason: "None"},
		{ID: "6_2", State: Ended, Said: "COMPLETING", Starts: at("22:11:09"), Ends: at("22:11:15"), Reason: "None"},
		{ID: "6_3", State: Ended, Said: "COMPLETED", Starts: at("22:11:09"), Ends: at("22:11:15"), Reason: "None"},
		{ID: "7", State: Ended, Said: "FAILED", Starts: at("22:11:15"), Ends: at("22:11:15"), Reason: "NonZeroExitCode"},
		{ID: "14", State: Ended, Said: "CANCELLED", Ends: at("22:11:36"), Reason: "BeginTime"},
	}
	for i := range want {
		want[i].Name = "pil"
	}
	testkit.That(t, err == nil && slices.Equal(got, want), err, got, "want", want)
	testkit.ErrSays(t, testkit.Err(parse("6_1|pil|RUNNING\n")), "squeue: ", "is not what it was asked for")
	if jobs, err := parse(""); jobs != nil || err != nil {
		t.Error(jobs, err)
	}
}

// TestEnvironment: neither a job's variables nor squeue's reach the programs, a site's own do.
func TestEnvironment(t *testing.T) {
	got := environment([]string{"PATH=/bin", "SLURM_CONF=/c", "SLURM_MEM_PER_NODE=1", "SLURMD_NODENAME=n", "SQUEUE_STATES=PD", "SBATCH_ACCOUNT=x", "SLURM_TIME_FORMAT=%s"})
	testkit.Deep(t, got, []string{"PATH=/bin", "SLURM_CONF=/c", "SBATCH_ACCOUNT=x", "SLURM_TIME_FORMAT=standard"})
}

// stub puts programs on PATH that append their arguments to files of their names, and do the rest as told.
func stub(t *testing.T, programs map[string]string) (calls func(name string) []string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	for name, does := range programs {
		testkit.Program(t, filepath.Join(dir, name), "#!/bin/sh\necho \"$*\" >> "+dir+"/"+name+".calls\ncat > "+dir+"/stdin\ncd "+dir+"\n"+does+"\n")
	}
	return func(name string) []string {
		b, _ := os.ReadFile(filepath.Join(dir, name+".calls"))
		return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	}
}

// TestCalls: what is asked of each program, and what becomes of its answer.
func TestCalls(t *testing.T) {
	j := Job{Pilot: gpu(), Name: "n", Worker: []string{"w"}, Output: "/logs"}
	calls := stub(t, map[string]string{
		"sbatch":  `case "$*" in *--test-only*) echo "sbatch: Job 47 to start at 2026-11-28T11:14:14 using 2 processors on nodes n1 in partition main" >&2;; *) grep -q '^exec srun .* w$' stdin && echo "Welcome; 90 % of your hours are left" && echo "47;lab";; esac`,
		"squeue":  `echo "47_1|n|PENDING|N/A|N/A||Priority"`,
		"scancel": `exit 0`,
	})
	id, err := j.Submit(t.Context(), 3)
	testkit.None(t, err)
	testkit.Is(t, id, "47")
	if at, err := j.FirstStart(t.Context()); err != nil || at.Format(time.DateTime) != "2026-11-28 11:14:14" {
		t.Error(at, err)
	}
	if jobs, err := List(t.Context(), "n", "m"); err != nil || len(jobs) != 1 || jobs[0].ID != "47_1" {
		t.Error(jobs, err)
	}
	testkit.None(t, Cancel(t.Context(), "47_1", "47_2"))
	got := slices.Concat(calls("sbatch"), calls("squeue"), calls("scancel"))
	const options = "--partition=a b -A x --job-name=n --nodes=1 --ntasks=1 --cpus-per-task=8 --time=91 --no-requeue --signal=INT@60 --mem=30518M --gres=gpu:2 --output=/logs/%A_%a.log "
	if want := []string{options + "--parsable --array=1-3", options + "--test-only",
		"--me --noheader --array --states=all --name=n,m --format=%i|%j|%T|%S|%e|%N|%r", "--quiet --state=PENDING 47_1 47_2"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}

	stub(t, map[string]string{"sbatch": `case "$*" in *--test-only*) echo "allocation failure: Invalid qos specification" >&2; exit 1;; esac`, "squeue": "exec sleep 60"})
	_, err = j.FirstStart(t.Context())
	if refused, ok := errors.AsType[*RefusedError](err); !ok || refused.Said != "allocation failure: Invalid qos specification" {
		t.Error(err)
	}
	testkit.ErrSays(t, testkit.Err(j.Submit(t.Context(), 1)), "does not say what it has submitted")
	ctx, stop := context.WithCancelCause(t.Context())
	over := errors.New("over")
	stop(over)
	testkit.ErrIs(t, testkit.Err(List(ctx, "n")), over)
	t.Setenv("PATH", t.TempDir())
	testkit.ErrIs(t, testkit.Err(List(t.Context(), "n")), ErrNone)
	stub(t, map[string]string{"sbatch": "", "scancel": ""})
	t.Setenv("PATH", strings.Split(os.Getenv("PATH"), ":")[0])
	testkit.ErrSays(t, Here(), "squeue is not in PATH")
}

// TestLimited: for two hours somebody asks each second. Slurm is asked seldom; what refuses is asked ever less
// often, and then as before.
func TestLimited(t *testing.T) {
	const pending = "n|PENDING|N/A|N/A||Priority"
	calls := stub(t, map[string]string{
		"sbatch": `test "$(wc -l < sbatch.calls)" -gt 5 && echo 47 || { echo "sbatch: error: QOSMaxSubmitJobPerUserLimit" >&2; exit 1; }`,
		"squeue": `test -e down && { echo "squeue: error: Socket timed out" >&2; exit 1; }; echo "47_1|` + pending + `"`,
	})
	down := filepath.Join(strings.Split(os.Getenv("PATH"), ":")[0], "down")
	synctest.Test(t, func(t *testing.T) {
		l, began := &Limited{Names: []string{"n"}}, time.Now()
		j := Job{Pilot: gpu(), Name: "n", Worker: []string{"w"}}
		testkit.Of(t, "", "before the queue is known")(l.Submit(t.Context(), j, 1))
		var submits, looks, said []string
		lookCalls, id := 0, ""
		for id == "" && time.Since(began) < 2*time.Hour {
			_, err := l.Jobs(t.Context())
			testkit.None(t, err)
			if n := len(calls("squeue")); n > lookCalls {
				lookCalls = n
				looks = append(looks, time.Since(began).String())
			}
			if id, err = l.Submit(t.Context(), j, 2); err != nil || id != "" {
				submits = append(submits, time.Since(began).String())
				said = append(said, fmt.Sprint(err))
			}
			time.Sleep(time.Second)
		}
		testkit.Deep(t, submits, []string{"0s", "1m0s", "3m0s", "7m0s", "15m0s", "30m0s"}, "submitted at")
		testkit.Is(t, said[0], "sbatch: error: QOSMaxSubmitJobPerUserLimit; the next try is in 1m0s", said)
		testkit.Is(t, said[5], "<nil>", said)
		if want := []string{"0s", "10s", "20s", "30s"}; !slices.Equal(looks[:4], want) || len(looks) > 100 {
			t.Errorf("looked at %q", looks)
		}
		jobs, err := l.Jobs(t.Context())
		if len(jobs) != 3 || err != nil || jobs[1].ID+" "+jobs[2].ID != "47_1 47_2" || jobs[2].State != Pending {
			t.Errorf("what was submitted is not among %v, %v", jobs, err)
		}

		testkit.Write(t, down, "")
		before := len(calls("squeue"))
		time.Sleep(time.Minute)
		_, err = l.Jobs(t.Context())
		testkit.ErrSays(t, err, "squeue: error: Socket timed out; the next try is in 2m0s")
		testkit.Of(t, "", "while the queue is not known")(l.Submit(t.Context(), j, 1))
		time.Sleep(119 * time.Second)
		if jobs, err := l.Jobs(t.Context()); err != nil || len(jobs) != 3 || len(calls("squeue")) != before+1 {
			t.Error("the pause after a refusal is not kept", jobs, err)
		}
		testkit.None(t, os.Remove(down))
		time.Sleep(time.Second)
		if jobs, err := l.Jobs(t.Context()); err != nil || len(jobs) != 1 {
			t.Error(jobs, err)
		}
		testkit.Of(t, "47")(l.Submit(t.Context(), j, 1))
		testkit.Of(t, "", "two at a time")(l.Submit(t.Context(), j, 1))
	})
}

// TestTwo: of two commands that ask at once only one submits, and the other one looks at the queue before it does.
func TestTwo(t *testing.T) {
	calls := stub(t, map[string]string{"sbatch": "echo 47", "squeue": `echo "47_1|n|RUNNING|N/A|N/A|n1|None"`})
	j := Job{Pilot: gpu(), Name: "n", Worker: []string{"w"}, Output: filepath.Join(t.TempDir(), "pilots")}
	synctest.Test(t, func(t *testing.T) {
		two := []*Limited{{Names: []string{"n"}}, {Names: []string{"n"}}}
		for second := range 11 {
			for i, l := range two {
				_, err := l.Jobs(t.Context())
				testkit.None(t, err)
				id, err := l.Submit(t.Context(), j, 1)
				if want := i == 0 && second == 0 || i == 1 && second == 10; (id != "") != want || err != nil {
					t.Errorf("command %d after %d s: %q, %v", i+1, second, id, err)
				}
			}
			time.Sleep(time.Second)
		}
		if n := len(calls("squeue")); n != 4 { // the first one after it has submitted
			t.Errorf("squeue was asked %d times", n)
		}
	})
}

// TestDoubt: the queue is looked at ten seconds after the last look, but not more often than once a minute in the long run.
// A pilot knows when it ends.
func TestDoubt(t *testing.T) {
	calls := stub(t, map[string]string{"sbatch": "cp stdin script; echo 47", "squeue": `echo "47_1|n|RUNNING|N/A|N/A|n1|None"`})
	synctest.Test(t, func(t *testing.T) {
		l, began := &Limited{Names: []string{"n"}}, time.Now()
		var looks []string
		for time.Since(began) < 4*time.Minute {
			_, err := l.Jobs(t.Context())
			testkit.None(t, err)
			if len(calls("squeue")) > len(looks) {
				looks = append(looks, time.Since(began).String())
			}
			if time.Since(began) > time.Second {
				l.Doubt()
			}
			time.Sleep(time.Second)
		}
		testkit.Deep(t, looks, []string{"0s", "10s", "1m3s", "2m3s", "3m3s"}, "looked at")
		_, err := l.Submit(t.Context(), Job{Pilot: gpu(), Name: "n", Worker: []string{"w"}}, 1)
		testkit.None(t, err)
	})
	testkit.Says(t, testkit.Text(t, filepath.Join(strings.Split(os.Getenv("PATH"), ":")[0], "script")), "\nexport SLURM_JOB_END_TIME=")
}

func TestIDs(t *testing.T) {
	for want, ids := range map[string][]string{"47_[1-3,5]": {"47_1", "47_2", "47_5", "47_3"}, "47_2": {"47_2"}, "46 47_[1-2]": {"46", "47_2", "47_1"}, "": nil} {
		testkit.Is(t, IDs(ids), want, ids)
	}
}
