package cli

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/worker"
)

// The time of a job without --until, and how long before the end of a job its worker begins
// to hand back: training saves checkpoints.
const (
	jobTime   = 12 * time.Hour
	jobMargin = 10 * time.Minute
)

// printSbatch writes this command, without --print-sbatch, as a job for Slurm with that many
// cards.
func printSbatch(out io.Writer, args []string, w worker.Options, cards int) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if w.Until == 0 {
		w.Until = jobTime - jobMargin
		args = append(args, "--until", hours(w.Until))
	}
	if w.IdleExit == 0 {
		args = append(args, "--idle-exit", "10m")
	}
	words := []string{quoted(program)}
	for _, a := range args {
		if a != "--print-sbatch" && !strings.HasPrefix(a, "--print-sbatch=") {
			words = append(words, quoted(a))
		}
	}
	view.Printf(out, `#!/bin/bash
#SBATCH --job-name=redsi-worker
#SBATCH --time=%d
#SBATCH --cpus-per-task=%d
#SBATCH --signal=INT@60
`, int((w.Until+jobMargin)/time.Minute), max(1, w.CPU))
	if cards > 0 { // on its own line: printed arguments have no line breaks
		view.Printf(out, "#SBATCH --gpus=%d\n", cards)
	}
	view.Printf(out, `# A worker ends by itself when there is nothing to do, or when its time is nearly over: it
# starts nothing that will not fit; running steps are saved and continue elsewhere.
# Submit as many as you like: sbatch --array=1-8 FILE
exec srun --ntasks=1 %s
`, strings.Join(words, " "))
	return nil
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
