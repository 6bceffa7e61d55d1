package cards

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/worker"
)

// The time of a job without --until, and how long before the end of a job its worker begins
// to hand back: training saves checkpoints.
const (
	jobTime   = 12 * time.Hour
	jobMargin = 10 * time.Minute
)

// Sbatch is this command with its arguments, without --print-sbatch, as a job for Slurm with
// as many cards as the options ask for.
func (o *Options) Sbatch(args []string, w worker.Options) (string, error) {
	cards, err := o.OfJob(w)
	if err != nil {
		return "", err
	}
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	if w.Until == 0 {
		w.Until = jobTime - jobMargin
		args = append(args, "--until", hours(w.Until))
	}
	if w.IdleExit == 0 {
		args = append(args, "--idle-exit", "10m")
	}
	command := []string{shellwords.Quote(program)}
	for _, a := range args {
		if a != "--print-sbatch" && !strings.HasPrefix(a, "--print-sbatch=") {
			command = append(command, shellwords.Quote(a))
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, `#!/bin/bash
#SBATCH --job-name=redsi-worker
#SBATCH --time=%d
#SBATCH --cpus-per-task=%d
#SBATCH --signal=INT@60
`, int((w.Until+jobMargin)/time.Minute), max(1, w.CPU))
	if cards > 0 { // on its own line: printed arguments have no line breaks
		fmt.Fprintf(&out, "#SBATCH --gpus=%d\n", cards)
	}
	fmt.Fprintf(&out, `# A worker ends by itself when there is nothing to do, or when its time is nearly over: it
# starts nothing that will not fit; running steps are saved and continue elsewhere.
# Submit as many as you like: sbatch --array=1-8 FILE
exec srun --ntasks=1 %s
`, strings.Join(command, " "))
	return out.String(), nil
}

// hours is a time as flags take it, without zero units.
func hours(d time.Duration) string {
	s := d.String()
	s = strings.TrimSuffix(s, "0s")
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
