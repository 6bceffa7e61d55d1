package simulate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/step"
)

// hands are the world in which the work of a process is done.
type hands interface {
	// begin is told that a try of a step or part begins, and says how it is to end, see pipelineScript.outcome.
	begin(ctx context.Context, name string, key artifacts.Digest, part bool) (outcome, attempt)
	lose(ctx context.Context, d artifacts.Digest) // a blob goes from the store
	pins(name string) string                      // the pipeline's end of that name
}

// An attempt is told how it ended: done, failed or cancelled.
type attempt interface{ end(how string) }

// outcome is how a try is to end: done, hangs, other (done, with bytes of its own), or as one of failures or panicking.
type outcome struct {
	How  string
	Took time.Duration
	N    int // of the try, from 0
}

// failures are the errors of tries that fail.
var failures = map[string]error{
	"transient": errors.New("the weather is bad"),
	"permanent": step.Permanent(errors.New("it cannot be done")),
	"changed":   &step.SourceChangedError{Path: "/source", Err: errors.New("the source has other bytes")},
	"exits":     &command.ExitError{Argv: []string{"program"}, Code: 3},
}

// outcome of the n-th try of a step's or part's work, from 0, in the whole script.
func (p pipelineScript) outcome(name string, n int) outcome {
	d, end := p.Seed.of("try", name, n), p.end(name)
	out := outcome{How: cmp.Or(end, "done"), N: n, Took: d.of("took").span(time.Millisecond, 900*time.Millisecond)}
	switch took := p.Seed.of("length", name).n(100); {
	case took < 10:
		out.Took = 0
	case took >= 90:
		out.Took = d.of("took").span(20*time.Second, 3*time.Minute)
	case took >= 60:
		out.Took = d.of("took").span(time.Second, 20*time.Second)
	}
	if b := p.of(name); b != nil && b.Time > 0 {
		out.Took = min(out.Took, b.Time/4) // none but those that hang need more
	}
	if end == "slow" && n == 0 {
		out.Took = d.of("took").span(3*time.Minute, 15*time.Minute)
	}
	if first, passes := map[string]struct { // tries that end in another way than the others, which are done
		how   string
		tries int
	}{"slow": {}, "flaky": {"transient", 1 + p.Seed.of("fails", name).n(3)}, "exits-first": {"exits", 2}, "heals": {"permanent", 1}, "loses": {"loses", 1}}[end]; passes {
		if out.How = "done"; n < first.tries {
			out.How = first.how
		}
	}
	return out
}

// end is how the work of a step or part ends, by its name: "" is well.
func (p pipelineScript) end(name string) string {
	of, part, _ := strings.Cut(name, "#")
	b, hurt := p.of(name), part == "" // a step as a whole, or
	switch {
	case b == nil, b.many() && p.Seed.of("hurt", of).n(3) > 0:
		return ""
	case b.End == "pins-panic":
		hurt = hurt && b.Kind == "work"
	case b.cut() && b.End != "hangs" && b.End != "changed" && p.Seed.of("part", of).chance(0.5): // its first part
		hurt = part == "0"
	}
	return map[bool]string{true: b.End}[hurt]
}

// workConfig is what all kinds take. Its name says which step it is, or part of one.
type workConfig struct {
	Name    string      `hcl:"name" help:"of the step"`
	Edition int         `hcl:"edition,optional" help:"of its key"`
	After   step.Inputs `hcl:"after,optional" help:"what to read"`
	OK      bool        `hcl:"ok,optional" help:"what to say"`
	Pieces  int         `hcl:"pieces,optional" help:"how many to make"`
	Size    int         `hcl:"size,optional" help:"bytes at least"`
}

// bench has the kinds of a process.
type bench struct {
	hands hands
	reg   *step.Registry
}

// kinds are those of the pipelines that are drawn, as the world of a process has them; nil: they are not to run.
func kinds(h hands) *step.Registry {
	b := &bench{hands: h}
	kind := func(name string, part bool) step.Kind[workConfig] {
		out := step.Output{Name: "out", Type: "text", Help: "What it says, and pieces."}
		if name == "list" {
			out.Type, out.Tree = "files", true
		}
		return step.Kind[workConfig]{Name: name, Version: 1, Doc: "Work.", Outputs: []step.Output{out}, Inline: name == "short",
			Run: func(ctx context.Context, x *step.IO, c workConfig) error {
				return b.run(ctx, x, name, c, part, out.Tree)
			}}
	}
	work := kind("work", false)
	work.Pins = func(c workConfig, _ map[string]artifacts.Artifact) []step.Pin { // a kind's own mistake, once its work is done
		if h != nil && h.pins(c.Name) == "pins-panic" {
			panic("a mistake of the kind's pins")
		}
		return nil
	}
	specs := []step.Spec{step.Define(work), step.Define(kind("short", false)), step.Define(kind("list", false))}
	for _, name := range []string{"cut", "turns"} {
		part, cut := step.DefinePart(kind("part_of_"+name, true)), kind(name, false)
		cut.Parts, cut.OneByOne = []step.Spec{part.Spec}, name == "turns"
		cut.Split = func(_ context.Context, _ *step.IO, c workConfig) (tasks []step.Task, errs error) {
			for i := range c.Pieces {
				t, err := part.Task(workConfig{Name: fmt.Sprintf("%s#%d", c.Name, i), Edition: c.Edition, After: c.After})
				tasks, errs = append(tasks, t), errors.Join(errs, err)
			}
			return tasks, errs
		}
		specs = append(specs, step.Define(cut))
	}
	b.reg = step.NewRegistry(specs...)
	return b.reg
}

// key is that of the step or part whose configuration it is.
func (b *bench) key(kind string, c workConfig) artifacts.Digest {
	after := []any{}
	for _, in := range c.After {
		after = append(after, in)
	}
	task, err := step.NewTask(b.reg.Lookup(kind), map[string]any{"name": c.Name, "edition": int64(c.Edition), "after": after,
		"ok": c.OK, "pieces": int64(c.Pieces), "size": int64(c.Size)})
	key, _, kerr := b.reg.Key(task)
	if err = errors.Join(err, kerr); err != nil {
		panic(err)
	}
	return key
}

// run does the work of a step or part as the world has it.
func (b *bench) run(ctx context.Context, x *step.IO, kind string, c workConfig, part, tree bool) (err error) {
	out, try := b.hands.begin(ctx, c.Name, b.key(kind, c), part)
	how := "failed" // also by a panic
	defer func() { try.end(how) }()
	if out.How == "loses" && len(c.After) > 0 && c.After[0].Artifact.Files == nil {
		b.hands.lose(ctx, c.After[0].Artifact.Digest)
	}
	of, err := read(x, c)
	if err == nil {
		err = worked(ctx, out)
	}
	if err == nil {
		err = write(ctx, x, c, of, out, tree)
	}
	if err == nil {
		how = "done"
	} else if ctx.Err() != nil {
		how = "cancelled"
	}
	return err
}

// read reads all that a step is made of.
func read(x *step.IO, c workConfig) (string, error) {
	hash, inputs := artifacts.Digest{}, append(step.Inputs{}, c.After...)
	for _, p := range x.Parts() {
		inputs = append(inputs, step.In(p.Outputs["out"]))
	}
	for _, in := range inputs {
		for _, f := range x.Files(in, "in") {
			r, err := x.OpenFile(f)
			if err != nil {
				return "", err
			}
			b, err := io.ReadAll(r)
			if err = errors.Join(err, r.Close()); err != nil {
				return "", err
			}
			hash = artifacts.Sum(append([]byte(hash.Hex()), b...))
		}
	}
	return fmt.Sprintf("%s %d %s", c.Name, c.Edition, hash.Hex()[:16]), nil
}

// worked takes the time that a try takes, and ends as it does.
func worked(ctx context.Context, out outcome) error {
	if out.How == "hangs" {
		out.Took = 1000 * time.Hour
	}
	timer := time.NewTimer(out.Took)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	if out.How == "panics" {
		panic("a mistake of the kind")
	}
	return failures[out.How]
}

// write makes pieces and says what the result is, of a tree in a file beside them.
func write(ctx context.Context, x *step.IO, c workConfig, of string, out outcome, tree bool) error {
	if out.How == "other" {
		of += fmt.Sprint(" try ", out.N)
	}
	says := struct {
		OK    bool     `json:"ok"`
		Names []string `json:"names"`
		Of    string   `json:"of"` // everything that it is made of
		Room  string   `json:"room,omitempty"`
	}{c.OK, append([]string{}, keysOf(c.Pieces)...), of, strings.Repeat("0", c.Size)}
	x.Count("made", int64(c.Pieces)+1)
	b, err := json.Marshal(says)
	if !tree {
		w, cerr := x.Create("out")
		if err = errors.Join(err, cerr); err != nil {
			return err
		}
		_, err = w.Write(b)
		return errors.Join(err, w.Close())
	}
	file := func(name string, b []byte) {
		var f artifacts.File
		if err == nil {
			f, err = x.PutFile(ctx, name, bytes.NewReader(b))
		}
		if err == nil {
			err = x.LinkFile("out", f)
		}
	}
	for _, key := range says.Names {
		file("p/"+key, []byte(of+" "+key))
	}
	file("said.json", b)
	return err
}
