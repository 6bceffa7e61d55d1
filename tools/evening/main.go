package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/redsi/redsi/internal/corpora/rehearsal"
)

func main() {
	var e evening
	share := flag.Float64("share", 0.1, "share of the sample's records")
	updates := flag.Int("updates", 20, "updates of each training")
	small := flag.Bool("small", false, "models of a few thousand parameters beside their vocabularies, in place of T5-Efficient-Tiny's shape")
	flag.StringVar(&e.work, "work", "", "folder for the run, which is kept; default: a temporary one")
	flag.DurationVar(&e.lid, "lid", 0, "stop everything for so long in a download and in a training; 0: do not")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	size := rehearsal.Size{Dev: int(7830 * *share / 5), Train: int(6147 * *share), T5: rehearsal.EfficientTiny, BERT: rehearsal.SmallBERT}
	if *small {
		size.T5 = rehearsal.Shape{Layers: 1, Width: 16, Inner: 32, Heads: 2, PerHead: 8}
		size.BERT = size.T5
	}
	if err := e.rehearse(ctx, size, "scale=sample", fmt.Sprint("sample_updates=", *updates)); err != nil {
		fmt.Fprintln(os.Stderr, "evening:", err)
		os.Exit(1)
	}
}

// evening is one rehearsal.
type evening struct {
	work  string
	lid   time.Duration
	args  []string // variables, for every command
	slept sync.Once
	peak  int64 // bytes of memory that all processes of the run had at once; 0: not known
}

// lay lays the pipeline into the working folder, where its lock file is its own.
func (e *evening) lay() error {
	err := os.MkdirAll(e.work, 0o755)
	if err == nil {
		e.work, err = filepath.Abs(e.work)
	}
	if err != nil {
		return err
	}
	files, _ := filepath.Glob("*.hcl") // the pattern is well-formed
	for _, name := range append(files, "assets") {
		from, err := filepath.Abs(name)
		if err == nil && name != "redsi.local.hcl" {
			err = os.Symlink(from, filepath.Join(e.work, name))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func (e *evening) rehearse(ctx context.Context, size rehearsal.Size, vars ...string) (err error) {
	if e.work == "" {
		if e.work, err = os.MkdirTemp("", "redsi-evening-"); err != nil {
			return err
		}
		defer os.RemoveAll(e.work)
	}
	if err := e.lay(); err != nil {
		return err
	}
	served := rehearsal.New(size)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	for _, v := range append(rehearsal.Variables("http://"+listener.Addr().String()), vars...) {
		e.args = append(e.args, "--var", v)
	}
	server := &http.Server{Handler: served}
	if e.lid > 0 {
		served.Sent = e.sleepDownloading
	}
	go server.Serve(listener)
	var watching sync.WaitGroup
	done := make(chan struct{})
	watching.Go(func() { e.watch(done) })
	began := time.Now()
	err = e.redsi(ctx, os.Stdout, "run", "--yes", "--quiet")
	took := time.Since(began)
	close(done)
	watching.Wait()
	if err := errors.Join(err, server.Close()); err != nil { // what comes now asks nobody
		return err
	}
	if err := e.redsi(ctx, os.Stdout, "report"); err != nil {
		return err
	}
	fmt.Printf("\nThe run took %s. What it asked for, and how often:\n", took.Round(time.Second))
	all := served.Served()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Printf("%8.1f MB %5d %s\n", float64(all[name].Sent.Load())/1e6, all[name].Requests.Load(), name)
	}
	if err := e.stages(ctx); err != nil {
		return err
	}
	if why := served.Wiki.Wrong.Load(); why != nil {
		return fmt.Errorf("the wiki was not asked as it asks to be: %s", *why)
	}
	return e.rerun(ctx)
}

// redsi runs the program in the working folder.
func (e *evening) redsi(ctx context.Context, out io.Writer, verb string, args ...string) error {
	program, err := filepath.Abs(filepath.Join("bin", "redsi"))
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, program, slices.Concat([]string{verb, "--state", filepath.Join(e.work, "state")}, args, e.args)...)
	c.Dir, c.Stdout, c.Stderr = e.work, out, os.Stderr
	c.Env = append(os.Environ(), mark+e.work)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	if err := c.Run(); err != nil {
		return fmt.Errorf("redsi %s: %w", verb, err)
	}
	return nil
}

// answer is what a command says with --json.
func (e *evening) answer(ctx context.Context, to any, verb string, args ...string) error {
	var out bytes.Buffer
	if err := e.redsi(ctx, &out, verb, append(args, "--json")...); err != nil {
		return err
	}
	return json.Unmarshal(out.Bytes(), to)
}

// stages prints how long the steps of each kind took, what they wrote, and the memory and disk of
// the whole.
func (e *evening) stages(ctx context.Context) error {
	var plan struct {
		Steps []struct {
			Kind, Outcome string
			TookS         float64 `json:"took_s"`
			Bytes         int64
		}
	}
	if err := e.answer(ctx, &plan, "plan", "--all"); err != nil {
		return err
	}
	type stage struct {
		n, bytes int64
		seconds  float64
	}
	all := map[string]stage{}
	for _, s := range plan.Steps {
		if s.Outcome != "hit" {
			return fmt.Errorf("after the run a step of kind %s is not a hit but %s", s.Kind, s.Outcome)
		}
		a := all[s.Kind]
		all[s.Kind] = stage{a.n + 1, a.bytes + s.Bytes, a.seconds + s.TookS}
	}
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		fmt.Printf("%-20s %4d steps %8.1f s %10.1f MB\n", kind, all[kind].n, all[kind].seconds, float64(all[kind].bytes)/1e6)
	}
	var disk int64
	err := filepath.WalkDir(filepath.Join(e.work, "state"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				disk += info.Size()
			}
		}
		return err
	})
	fmt.Printf("memory of all its processes at once %.2f GB at most, disk %.2f GB\n", float64(e.peak)/1e9, float64(disk)/1e9)
	return err
}

// rerun runs once more, without the server: everything is a hit, and all files of tables and
// figures are there.
func (e *evening) rerun(ctx context.Context) error {
	var sum struct {
		Hit, Ran int
		Rendered []struct{ Address, Path string }
	}
	if err := e.answer(ctx, &sum, "run", "--yes"); err != nil {
		return err
	}
	there := map[string]bool{}
	for _, f := range sum.Rendered {
		path := f.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(e.work, path)
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			return fmt.Errorf("%s: %s is not there, or empty", f.Address, f.Path)
		}
		there[f.Address] = true
	}
	fmt.Printf("again, without the server: %d hit, %d ran; files of %d tables and figures are there\n", sum.Hit, sum.Ran, len(there))
	if sum.Ran > 0 || !there["table.dedup_counts"] {
		return errors.New("the second run is not all hits, or without tables")
	}
	return nil
}
