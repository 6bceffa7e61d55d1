package allocation

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Allocation is what a process has of its batch job on this machine, one task's part. Fields are zero if nobody says.
type Allocation struct {
	Job    string // with its batch system, as people name it: "slurm 47_3"; "": this process is in no job
	Node   string // as the batch system names it
	Tasks  int    // which share what the job has here; at least 1
	CPUs   int
	Memory int64 // bytes
	GPUs   int

	id  string    // as squeue takes it
	end time.Time // if the environment says it
}

// Here returns what this process has.
func Here() Allocation {
	host, _ := os.Hostname()
	return read(os.Getenv, host)
}

// read goes by the variables that batch systems document: Slurm's output environment of sbatch and srun, and the
// execution environments of the PBS family and LSF. Slurm's count only if slurmd started the process: a shell of salloc
// on a login node has the job's variables, and nothing of the job.
func read(getenv func(string) string, host string) Allocation {
	number := func(name string) int {
		n, err := strconv.Atoi(getenv(name))
		if err != nil || n < 0 {
			return 0
		}
		return n
	}
	a := Allocation{Tasks: 1}
	switch slurm, pbs, lsf := getenv("SLURM_JOB_ID"), getenv("PBS_JOBID"), getenv("LSB_JOBID"); {
	case slurm != "" && getenv("SLURMD_NODENAME") != "":
		a.Job, a.Node, a.id = "slurm "+slurm, getenv("SLURMD_NODENAME"), slurm
		if array := getenv("SLURM_ARRAY_JOB_ID"); array != "" {
			a.Job = "slurm " + array + "_" + getenv("SLURM_ARRAY_TASK_ID")
		}
		cpus := number("SLURM_CPUS_ON_NODE")
		if step := getenv("SLURM_STEP_TASKS_PER_NODE"); step != "" { // else it is the batch script's, which has all
			a.Tasks = max(1, tasksOn(step, number("SLURM_NODEID")))
			a.CPUs = number("SLURM_CPUS_PER_TASK")
		}
		if share := cpus / a.Tasks; cpus > 0 {
			a.CPUs = max(1, min(share, cmp.Or(a.CPUs, share)))
		}
		a.GPUs = number("SLURM_GPUS_ON_NODE") / a.Tasks
		mega := cmp.Or(number("SLURM_MEM_PER_NODE"), number("SLURM_MEM_PER_CPU")*cpus, number("SLURM_MEM_PER_GPU")*number("SLURM_GPUS_ON_NODE"))
		a.Memory = int64(mega) << 20 / int64(a.Tasks)
		if at := number("SLURM_JOB_END_TIME"); at > 0 {
			a.end = time.Unix(int64(at), 0)
		}
	case pbs != "":
		a.Job, a.Node = "pbs "+pbs, host
		a.CPUs = cmp.Or(number("NCPUS"), number("PBS_NUM_PPN"))
	case lsf != "":
		a.Job, a.Node = "lsf "+lsf, host
		if i := getenv("LSB_JOBINDEX"); i != "" && i != "0" {
			a.Job += "[" + i + "]"
		}
		slots := strings.Fields(getenv("LSB_MCPU_HOSTS")) // HOST N HOST N …
		for i := 0; i+1 < len(slots); i += 2 {
			if strings.HasPrefix(slots[i]+".", host+".") || strings.HasPrefix(host+".", slots[i]+".") { // with its domain, or without
				a.CPUs, _ = strconv.Atoi(slots[i+1])
			}
		}
	}
	return a
}

// tasksOn returns how many tasks a step has on its i'th node, by Slurm's "2(x3),1"; 0 if the text does not say.
func tasksOn(perNode string, i int) int {
	for part := range strings.SplitSeq(perNode, ",") {
		count, times, many := strings.Cut(part, "(x")
		n, err := strconv.Atoi(count)
		nodes := 1
		if many && err == nil {
			nodes, err = strconv.Atoi(strings.TrimSuffix(times, ")"))
		}
		if err != nil {
			return 0
		}
		if i < nodes {
			return n
		}
		i -= nodes
	}
	return 0
}

// String is such as "slurm 47_3 on n1"; "" in no job.
func (a Allocation) String() string {
	if a.Job == "" {
		return ""
	}
	return a.Job + " on " + a.Node
}

// End returns when the job ends at the latest; zero if nobody says. If Slurm's environment does not say it (22.05 does
// not), squeue is asked.
func (a Allocation) End(ctx context.Context) (time.Time, error) {
	if a.id == "" || !a.end.IsZero() {
		return a.end, nil
	}
	ctx, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	out, err := exec.CommandContext(ctx, "squeue", "--noheader", "--jobs", a.id, "--format", "%L").Output()
	if err != nil {
		return time.Time{}, fmt.Errorf("squeue --jobs %s: %w", a.id, err)
	}
	left, ok := timeLeft(strings.TrimSpace(string(out)))
	if !ok {
		return time.Time{}, nil
	}
	return time.Now().Add(left), nil
}

// timeLeft reads squeue's [DAYS-]HOURS:MINUTES:SECONDS, or MINUTES:SECONDS; ok is false for UNLIMITED and the like.
func timeLeft(text string) (left time.Duration, ok bool) {
	before, clock, has := strings.Cut(text, "-")
	if !has {
		before, clock = "0", text
	}
	days, err := strconv.Atoi(before)
	for part := range strings.SplitSeq(clock, ":") {
		n, bad := strconv.Atoi(part)
		err = cmp.Or(err, bad)
		left = left*60 + time.Duration(n)
	}
	return left*time.Second + time.Duration(days)*24*time.Hour, err == nil
}
