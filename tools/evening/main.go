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
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redsi/redsi/internal/corpora/rehearsal"
)

func main() {
	var e evening
	tree := flag.String("tree", ".", "folder of the sources, with the paper's pipeline")
	share := flag.Float64("share", 0.1, "share of the sample's records")
	train := flag.Int("train", 1, "files of train")
	updates := flag.Int("updates", 20, "updates of each training")
	small := flag.Bool("small", false, "models of a few thousand parameters beside their vocabularies, in place of T5-Efficient-Tiny's shape")
	flag.StringVar(&e.program, "redsi", "bin/redsi", "the program")
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
	vars := []string{"scale=sample", fmt.Sprint("sample_train=", *train), fmt.Sprint("sample_updates=", *updates)}
	err := e.lay(*tree)
	if err == nil {
		defer e.remove()
		err = e.rehearse(ctx, *tree, size, vars)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "evening:", err)
		e.remove()
		os.Exit(1)
	}
}

// evening is one rehearsal.
type evening struct {
	program, work string
	temporary     bool
	lid           time.Duration
	args          []string // variables, for every command
	slept         sync.Once
	peak          int64 // bytes of memory that all processes of the run had at once; 0: not known
}

// lay lays the pipeline into the working folder, where its lock file is its own.
func (e *evening) lay(tree string) (err error) {
	if e.temporary = e.work == ""; e.temporary {
		if e.work, err = os.MkdirTemp("", "redsi-evening-"); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(e.work, 0o755); err != nil {
		return err
	}
	for _, p := range []*string{&e.program, &e.work, &tree} {
		if *p, err = filepath.Abs(*p); err != nil {
			return err
		}
	}
	files, err := filepath.Glob(filepath.Join(tree, "*.hcl"))
	for _, name := range append(files, filepath.Join(tree, "assets")) {
		to := filepath.Join(e.work, filepath.Base(name))
		if err == nil && filepath.Base(name) != "redsi.local.hcl" {
			if err = os.Symlink(name, to); errors.Is(err, fs.ErrExist) {
				err = nil
			}
		}
	}
	return err
}

func (e *evening) remove() {
	if e.temporary {
		os.RemoveAll(e.work)
	}
}

func (e *evening) rehearse(ctx context.Context, tree string, size rehearsal.Size, vars []string) error {
	served, err := rehearsal.New(filepath.Join(tree, "internal", "corpora", "nq", "testdata"), size)
	if err != nil {
		return err
	}
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
	watching, done := context.WithCancel(ctx)
	go e.watch(watching)
	began := time.Now()
	err = e.redsi(ctx, os.Stdout, "run", "--yes", "--quiet")
	done()
	took := time.Since(began)
	if err := errors.Join(err, server.Close()); err != nil { // what comes now asks nobody
		return err
	}
	if err := e.redsi(ctx, os.Stdout, "report"); err != nil {
		return err
	}
	fmt.Printf("\nThe run took %s. What it asked for, and got:\n%s", took.Round(time.Second), served.Report())
	if err := e.stages(ctx); err != nil {
		return err
	}
	if why := served.Wiki.Wrong.Load(); why != nil {
		return fmt.Errorf("the wiki was not asked as it asks to be: %s", *why)
	}
	return e.again(ctx)
}

// redsi runs the program in the working folder.
func (e *evening) redsi(ctx context.Context, out io.Writer, verb string, args ...string) error {
	c := exec.CommandContext(ctx, e.program, append(append([]string{verb, "--state", filepath.Join(e.work, "state")}, args...), e.args...)...)
	c.Dir, c.Stdout, c.Stderr = e.work, out, os.Stderr
	c.Env = append(os.Environ(), mark+e.work)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	if err := c.Run(); err != nil {
		return fmt.Errorf("redsi %s: %w", verb, err)
	}
	return nil
}

// planned is what `redsi plan --json --all` says.
type planned struct {
	Steps []struct {
		Kind, Outcome string
		TookS         float64 `json:"took_s"`
		Bytes         int64
	}
}

// stages prints how long the steps of each kind took, what they wrote, and the memory and disk of
// the whole.
func (e *evening) stages(ctx context.Context) error {
	var out bytes.Buffer
	if err := e.redsi(ctx, &out, "plan", "--json", "--all"); err != nil {
		return err
	}
	var p planned
	if err := json.Unmarshal(out.Bytes(), &p); err != nil {
		return err
	}
	type stage struct {
		kind    string
		n       int
		seconds float64
		bytes   int64
	}
	var all []stage
	for _, s := range p.Steps {
		if s.Outcome != "hit" {
			return fmt.Errorf("after the run a step of kind %s is not a hit but %s", s.Kind, s.Outcome)
		}
		i := slices.IndexFunc(all, func(a stage) bool { return a.kind == s.Kind })
		if i < 0 {
			i, all = len(all), append(all, stage{kind: s.Kind})
		}
		all[i].n, all[i].seconds, all[i].bytes = all[i].n+1, all[i].seconds+s.TookS, all[i].bytes+s.Bytes
	}
	for _, a := range all {
		fmt.Printf("%-20s %4d steps %8.1f s %10.1f MB\n", a.kind, a.n, a.seconds, float64(a.bytes)/1e6)
	}
	var disk int64
	err := filepath.WalkDir(filepath.Join(e.work, "state"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			info, err := d.Info()
			if err != nil {
				return err
			}
			disk += info.Size()
		}
		return err
	})
	fmt.Printf("memory of all its processes at once %.2f GB at most, disk %.2f GB\n", float64(e.peak)/1e9, float64(disk)/1e9)
	return err
}

// again runs once more, without the server: everything is a hit, and all files of tables and
// figures are there.
func (e *evening) again(ctx context.Context) error {
	var out bytes.Buffer
	if err := e.redsi(ctx, &out, "run", "--yes", "--json"); err != nil {
		return err
	}
	var sum struct {
		Hit, Ran int
		Rendered []struct{ Address, Path string }
	}
	if err := json.Unmarshal(out.Bytes(), &sum); err != nil {
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
	if sum.Ran > 0 || len(there) == 0 || !strings.Contains(out.String(), "table.dedup_counts") {
		return errors.New("the second run is not all hits, or without tables")
	}
	return nil
}
