package allocation

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestRead: environments as Slurm 22.05 gives them to scripts and tasks, and those that PBS and LSF document.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want Allocation
	}{
		"no job":           {nil, Allocation{Tasks: 1}},
		"salloc, at login": {map[string]string{"SLURM_JOB_ID": "4", "SLURM_JOB_CPUS_PER_NODE": "2", "SLURM_MEM_PER_NODE": "600"}, Allocation{Tasks: 1}},
		"a batch script has all": {map[string]string{"SLURM_JOB_ID": "4", "SLURMD_NODENAME": "n2", "SLURM_CPUS_ON_NODE": "8", "SLURM_CPUS_PER_TASK": "4", "SLURM_MEM_PER_NODE": "600", "SLURM_NTASKS": "2", "SLURM_TASKS_PER_NODE": "2", "SLURM_NODEID": "0"},
			Allocation{Job: "slurm 4", Node: "n2", Tasks: 1, CPUs: 8, Memory: 600 << 20, id: "4"}},
		"tasks share": {map[string]string{"SLURM_JOB_ID": "4", "SLURMD_NODENAME": "n2", "SLURM_CPUS_ON_NODE": "2", "SLURM_MEM_PER_NODE": "600", "SLURM_STEP_TASKS_PER_NODE": "1,2(x3)", "SLURM_NODEID": "2"},
			Allocation{Job: "slurm 4", Node: "n2", Tasks: 2, CPUs: 1, Memory: 300 << 20, id: "4"}},
		"more tasks than processors": {map[string]string{"SLURM_JOB_ID": "4", "SLURMD_NODENAME": "n2", "SLURM_CPUS_ON_NODE": "2", "SLURM_STEP_TASKS_PER_NODE": "3"},
			Allocation{Job: "slurm 4", Node: "n2", Tasks: 3, CPUs: 1, id: "4"}},
		"memory by processor, cards, an end": {map[string]string{"SLURM_JOB_ID": "7", "SLURM_ARRAY_JOB_ID": "5", "SLURM_ARRAY_TASK_ID": "3", "SLURMD_NODENAME": "n1", "SLURM_CPUS_ON_NODE": "4", "SLURM_CPUS_PER_TASK": "2",
			"SLURM_MEM_PER_CPU": "300", "SLURM_GPUS_ON_NODE": "2", "SLURM_STEP_TASKS_PER_NODE": "1", "SLURM_JOB_END_TIME": "1800000000"},
			Allocation{Job: "slurm 5_3", Node: "n1", Tasks: 1, CPUs: 2, Memory: 1200 << 20, GPUs: 2, id: "7", end: time.Unix(1800000000, 0)}},
		"memory by card, all of a node": {map[string]string{"SLURM_JOB_ID": "7", "SLURMD_NODENAME": "n1", "SLURM_MEM_PER_NODE": "0", "SLURM_MEM_PER_GPU": "100", "SLURM_GPUS_ON_NODE": "2"},
			Allocation{Job: "slurm 7", Node: "n1", Tasks: 1, Memory: 200 << 20, GPUs: 2, id: "7"}},
		"nonsense": {map[string]string{"SLURM_JOB_ID": "7", "SLURMD_NODENAME": "n1", "SLURM_CPUS_ON_NODE": "many", "SLURM_STEP_TASKS_PER_NODE": "2(y", "SLURM_MEM_PER_NODE": "-1"},
			Allocation{Job: "slurm 7", Node: "n1", Tasks: 1, id: "7"}},
		"pbs":           {map[string]string{"PBS_JOBID": "12.head", "NCPUS": "8"}, Allocation{Job: "pbs 12.head", Node: "h.site", Tasks: 1, CPUs: 8}},
		"torque":        {map[string]string{"PBS_JOBID": "12.head", "PBS_NUM_PPN": "4"}, Allocation{Job: "pbs 12.head", Node: "h.site", Tasks: 1, CPUs: 4}},
		"lsf, an array": {map[string]string{"LSB_JOBID": "9", "LSB_JOBINDEX": "2", "LSB_MCPU_HOSTS": "g 4 h 2"}, Allocation{Job: "lsf 9[2]", Node: "h.site", Tasks: 1, CPUs: 2}},
		"lsf":           {map[string]string{"LSB_JOBID": "9", "LSB_JOBINDEX": "0"}, Allocation{Job: "lsf 9", Node: "h.site", Tasks: 1}},
	} {
		testkit.Is(t, read(func(name string) string { return c.env[name] }, "h.site"), c.want, name)
	}
	testkit.Is(t, (Allocation{Job: "slurm 5_3", Node: "n1"}).String(), "slurm 5_3 on n1")
}

// TestEnd: what squeue says of the time that is left is when the job ends; it may say that there is no limit, or fail.
func TestEnd(t *testing.T) {
	for text, want := range map[string]time.Duration{"9:59": 599 * time.Second, "1-02:03:04": 26*time.Hour + 184*time.Second, "0:00": 0} {
		if got, ok := timeLeft(text); !ok || got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for says, want := range map[string]time.Duration{"echo 2:00": 2 * time.Minute, "echo UNLIMITED": 0, "exit 1": -1} {
		program := filepath.Join(dir, "squeue")
		testkit.Program(t, program, "#!/bin/sh\n[ \"$3\" = 7 ] && "+says+"\n")
		end, err := Allocation{id: "7"}.End(t.Context())
		if left := time.Until(end).Round(time.Minute); (err != nil) != (want < 0) || want > 0 && left != want || want <= 0 && !end.IsZero() {
			t.Errorf("%s: %s, %v", says, end, err)
		}
	}
}
