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
	// begin is told that a try of a step or part begins, and says how it is to end: see
	// pipelineScript.outcome, whose n the world counts by name.
	begin(ctx context.Context, name string, key artifacts.Digest, part bool) (outcome, attempt)
	lose(ctx context.Context, d artifacts.Digest) // a blob goes from the store
	pins(name string) string                      // the pipeline's end of that name
}

// An attempt is told how it ended: done, failed or cancelled.
type attempt interface{ end(how string) }

// outcome is how a try is to end: done, other (done, with bytes of its own), transient,
// permanent, panics, hangs, changed, loses, exits or pins-panic.
type outcome struct {
	How  string
	Took time.Duration
	N    int // of the try, from 0
}

// outcome of the n-th try of a step's or part's work, from 0, in the whole script.
func (p pipelineScript) outcome(name string, n int) outcome {
	d := p.Seed.of("try", name, n)
	out := outcome{How: "done", N: n, Took: d.of("took").span(time.Millisecond, 900*time.Millisecond)}
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
	end := p.end(name)
	if end == "slow" && n == 0 {
		out.Took = d.of("took").span(3*time.Minute, 15*time.Minute)
	}
	first, passes := map[string]struct { // tries that end in another way than the others
		how   string
		tries int
	}{"slow": {}, "flaky": {"transient", 1 + p.Seed.of("fails", name).n(3)}, "exits-first": {"exits", 2}, "heals": {"permanent", 1}, "loses": {"loses", 1}}[end]
	if passes && n < first.tries {
		out.How = first.how
	} else if !passes {
		out.How = cmp.Or(end, "done")
	}
	return out
}

// end is how the work of a step or part ends, by its name: "" is well.
func (p pipelineScript) end(name string) string {
	of, part, _ := strings.Cut(name, "#")
	b := p.of(name)
	switch {
	case b == nil, b.many() && p.Seed.of("hurt", of).n(3) > 0:
		return ""
	case !b.cut() || b.End == "hangs" || b.End == "pins-panic" || b.End == "changed":
		if part != "" || b.End == "pins-panic" && b.Kind != "work" {
			return ""
		}
	case p.Seed.of("part", of).chance(0.5) != (part == "0"): // the whole, or its first part
		return ""
	case part != "" && part != "0":
		return ""
	}
	return b.End
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

// said is the JSON of a result.
type said struct {
	OK    bool     `json:"ok"`
	Names []string `json:"names"`
	Of    string   `json:"of"` // everything that it is made of
	Room  string   `json:"room,omitempty"`
}

// bench has the kinds of a process.
type bench struct {
	hands hands
	reg   *step.Registry
}

// kinds are those of the pipelines that are drawn, as the world of a process has them; nil: they
// are not to run.
func kinds(h hands) *step.Registry {
	b := &bench{hands: h}
	kind := func(name string, part bool) step.Kind[workConfig] {
		tree := name == "list"
		out := step.Output{Name: "out", Type: map[bool]string{false: "text", true: "files"}[tree], Tree: tree, Help: "What it says, and pieces."}
		return step.Kind[workConfig]{Name: name, Version: 1, Doc: "Work.", Outputs: []step.Output{out}, Inline: name == "short",
			Run: func(ctx context.Context, x *step.IO, c workConfig) error { return b.run(ctx, x, name, c, part, tree) }}
	}
	work := kind("work", false)
	work.Pins = b.pins
	specs := []step.Spec{step.Define(work), step.Define(kind("short", false)), step.Define(kind("list", false))}
	for _, name := range []string{"cut", "turns"} {
		part := step.DefinePart(kind("part_of_"+name, true))
		cut := kind(name, false)
		cut.Parts, cut.OneByOne = []step.Spec{part.Spec}, name == "turns"
		cut.Split = func(_ context.Context, _ *step.IO, c workConfig) (tasks []step.Task, err error) {
			for i := range c.Pieces {
				t, err := part.Task(workConfig{Name: fmt.Sprintf("%s#%d", c.Name, i), Edition: c.Edition, After: c.After})
				if err != nil {
					return nil, err
				}
				tasks = append(tasks, t)
			}
			return tasks, nil
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
	if err != nil {
		panic(err)
	}
	key, _, err := b.reg.Key(task)
	if err != nil {
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
		if err = worked(ctx, out); err == nil {
			err = write(ctx, x, c, of, out, tree)
		}
	}
	switch {
	case err == nil:
		how = "done"
	case ctx.Err() != nil:
		how = "cancelled"
	}
	return err
}

// pins names no checksums, and is where a kind's own mistake may be met once its work is done.
func (b *bench) pins(c workConfig, _ map[string]artifacts.Artifact) []step.Pin {
	if b.hands != nil && b.hands.pins(c.Name) == "pins-panic" {
		panic("a mistake of the kind's pins")
	}
	return nil
}

// read reads all that a step is made of.
func read(x *step.IO, c workConfig) (string, error) {
	hash := artifacts.Digest{}
	inputs := append(step.Inputs{}, c.After...)
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
	took := out.Took
	if out.How == "hangs" {
		took = 1000 * time.Hour
	}
	timer := time.NewTimer(took)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	switch out.How {
	case "transient":
		return errors.New("the weather is bad")
	case "permanent":
		return step.Permanent(errors.New("it cannot be done"))
	case "panics":
		panic("a mistake of the kind")
	case "changed":
		return &step.SourceChangedError{Path: "/source", Err: errors.New("the source has other bytes")}
	case "exits":
		return &command.ExitError{Argv: []string{"program"}, Code: 3}
	}
	return nil
}

func write(ctx context.Context, x *step.IO, c workConfig, of string, out outcome, tree bool) error {
	says := said{OK: c.OK, Names: []string{}, Of: of}
	if out.How == "other" {
		says.Of += fmt.Sprint(" try ", out.N)
	}
	if c.Size > 0 {
		says.Room = fmt.Sprintf("%0*d", c.Size, 0)
	}
	x.Count("made", int64(c.Pieces)+1)
	file := func(name string, b []byte) error {
		f, err := x.PutFile(ctx, name, bytes.NewReader(b))
		if err != nil {
			return err
		}
		return x.LinkFile("out", f)
	}
	for i := range c.Pieces {
		says.Names = append(says.Names, keyOf(i))
		if tree {
			if err := file("p/"+keyOf(i), []byte(says.Of+" "+keyOf(i))); err != nil {
				return err
			}
		}
	}
	b, err := json.Marshal(says)
	if err != nil {
		return err
	}
	if tree {
		return file("said.json", b)
	}
	w, err := x.Create("out")
	if err != nil {
		return err
	}
	if _, err := w.Write(b); err != nil {
		return err
	}
	return w.Close()
}
