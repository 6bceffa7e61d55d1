package cli

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/redsi/redsi/internal/view"
	"github.com/redsi/redsi/worker"
)

// Of a job without --until, and how long before its end a worker that is given one
// begins to hand back: trainings save where they are.
const (
	jobTime   = 12 * time.Hour
	jobMargin = 10 * time.Minute
)

// printSbatch writes a job for Slurm that is this command without --print-sbatch, with so
// many cards.
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
	if cards > 0 { // a line of its own: what is printed of an argument has no line breaks
		view.Printf(out, "#SBATCH --gpus=%d\n", cards)
	}
	view.Printf(out, `# A worker ends by itself when there is nothing to do, or when its time is nearly over: it
# takes nothing that will not fit, and what is running is saved and goes on elsewhere.
# Submit as many as you like: sbatch --array=1-8 FILE
exec srun --ntasks=1 %s
`, strings.Join(words, " "))
	return nil
}

// hours is a time as flags take it, without what is zero.
func hours(d time.Duration) string {
	s := d.String()
	s = strings.TrimSuffix(s, "0s")
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
