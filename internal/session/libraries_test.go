package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/kinds"
)

// BenchmarkPlanLibraries makes the keys of 1,000 steps of an environment of 60 distributions
// with 6,000 files that have not moved, and of as many that leave it out.
func BenchmarkPlanLibraries(b *testing.B) {
	dir := b.TempDir()
	put := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	put("env/pyvenv.cfg", "home = /usr/bin\n")
	put("env/bin/.keep", "")
	if err := os.Symlink("/bin/sh", filepath.Join(dir, "env/bin/python")); err != nil {
		b.Fatal(err)
	}
	for i := range 60 {
		record := ""
		for j := range 100 {
			name := fmt.Sprintf("p%d/m%d/x%d.py", i, j/10, j)
			put("env/lib/python3.11/site-packages/"+name, "")
			record += name + ",sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n"
		}
		put(fmt.Sprintf("env/lib/python3.11/site-packages/p%d-1.0.dist-info/RECORD", i), record)
	}
	time.Sleep(2100 * time.Millisecond) // files that were written just now are read again
	for _, on := range []bool{true, false} {
		b.Run(fmt.Sprintf("program_libraries=%t", on), func(b *testing.B) {
			put("pipelines.hcl", fmt.Sprintf("step \"command\" \"x\" {\nfor_each = toset([for i in range(1000) : tostring(i)])\nargv = [%q, each.key]\noutputs = [\"o\"]\nprogram_libraries = %t\n}\n",
				filepath.Join(dir, "env/bin/python"), on))
			a := Session{Talk: Quiet{}, Registry: kinds.Registry(), File: filepath.Join(dir, "pipelines.hcl"), StateDir: filepath.Join(dir, ".redsi")}
			src, err := pipeline.Read(a.File)
			if err != nil {
				b.Fatal(err)
			}
			p, ds := pipeline.Load(src, pipeline.Options{Registry: a.Registry, World: pipeline.World{ReadFile: os.ReadFile}})
			if ds.HasErrors() {
				b.Fatal(ds.Err())
			}
			var pl *plan.Plan
			before := processorTime(b)
			for b.Loop() {
				if pl, err = a.PlanOf(context.Background(), p, a.File, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((processorTime(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
			if n := len(pl.Steps); n != 1000 {
				b.Fatal(n)
			}
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
