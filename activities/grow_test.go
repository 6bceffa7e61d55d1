package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/lease"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/stores/mem"
	"github.com/redsi/redsi/internal/stores/storetest"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

// TestGrowReadsBeside: a pipeline grows by what its steps have made and by what lies beside it,
// as it was loaded. A worker that lacks a file or a secret leaves it to another, if there may be
// one, and never takes the lack for an answer.
func TestGrowReadsBeside(t *testing.T) {
	type tree struct {
		Files map[string]string `hcl:"files" help:"texts by name"`
	}
	type text struct {
		Text  string      `hcl:"text" help:"text"`
		After step.Inputs `hcl:"after,optional" help:"inputs"`
	}
	write := func(w io.WriteCloser, err error, s string) error {
		if err == nil {
			_, err = io.WriteString(w, s)
			err = errors.Join(err, w.Close())
		}
		return err
	}
	kinds := step.NewRegistry(
		step.Define(step.Kind[tree]{Name: "tree", Version: 1, Doc: "d", Inline: true, Outputs: []step.Output{{Name: "out", Type: "files", Tree: true, Help: "h"}},
			Run: func(_ context.Context, x *step.IO, c tree) error {
				for _, n := range slices.Sorted(maps.Keys(c.Files)) {
					w, err := x.CreateFile("out", n)
					if err := write(w, err, c.Files[n]); err != nil {
						return err
					}
				}
				return nil
			}}),
		step.Define(step.Kind[text]{Name: "text", Version: 1, Doc: "d", Inline: true, Outputs: []step.Output{{Name: "out", Type: "text", Help: "h"}},
			Run: func(_ context.Context, x *step.IO, c text) error {
				w, err := x.Create("out")
				return write(w, err, c.Text)
			}}))
	beside := pipeline.Options{Registry: kinds,
		World: pipeline.World{ReadFile: func(name string) ([]byte, error) {
			if strings.HasPrefix(name, "no") {
				return nil, fs.ErrNotExist
			}
			return []byte("read " + name), nil
		},
			List:   func(folder, pattern string) ([]string, error) { return []string{"of " + folder}, nil },
			Digest: func(name string) (step.Pin, error) { return step.Pin{SHA256: artifacts.Sum([]byte(name))}, nil }},
	}
	const secret = "variable \"token\" { sensitive = true }\n"
	for name, c := range map[string]struct {
		text, more         string
		onlyWorker         bool
		accept, lock, dir  string
		away               bool
		want, wrong, unfit string
	}{
		"a folder for each":                     {text: `join(",", fileset("cfg/${each.key}", "*"))`, onlyWorker: true, want: "of cfg/a"},
		"a digest of each":                      {text: `filesha256(each.key)`, onlyWorker: true, want: artifacts.Sum([]byte("a")).Hex()},
		"a file of each":                        {text: `file("p/${each.key}")`, onlyWorker: true, want: "read p/a"},
		"where the pipeline was loaded by name": {text: `file("p/${each.key}")`, accept: ".", lock: "redsi.lock", want: "read p/a"},
		"on another worker":                     {text: `file("p/${each.key}")`, lock: "redsi.lock", unfit: "t.hcl:8: p/a is not among the sources"},
		"of a client, on a worker":              {text: `file("p/${each.key}")`, accept: ".", wrong: "Run again"},
		"a try is no way round":                 {text: `try(file("p/${each.key}"), "none")`, wrong: "Run again"},
		"a digest, on a worker":                 {text: `try(filesha256(each.key), "none")`, wrong: "Run again"},
		"a list, on a worker":                   {text: `try(fileset(each.key, "*"), "none")`, wrong: "Run again"},
		"what was not there is not there":       {text: `try(file("no.txt"), "none")`, want: "none"},
		"what was there":                        {text: `file("yes.txt")`, want: "read yes.txt"},
		"a worker without the secret":           {more: secret, text: `"x"`, unfit: "var.token is sensitive"},
		"another process of the server has it":  {more: secret, text: `"x"`, onlyWorker: true, unfit: "var.token is sensitive"},
		"a process of another folder":           {text: `file("p/${each.key}")`, onlyWorker: true, dir: "/elsewhere", unfit: "start from /elsewhere"},
		"a store that does not answer":          {text: `json(step.text.said.out, "x")`, more: "# json\n", away: true},
	} {
		t.Run(name, func(t *testing.T) {
			store := mem.New()
			a := &Activities{Store: artifacts.Alone(store), Leases: lease.New(store.Leases, slog.New(slog.DiscardHandler)), Registry: kinds, Log: slog.New(slog.DiscardHandler),
				Resolve: func(context.Context, *plan.Plan, []int, string) error { return nil },
				Beside:  func(context.Context) pipeline.Options { return beside }, OnlyWorker: c.onlyWorker, Accept: []string{cmp.Or(c.accept, "elsewhere")}}
			src := c.more + `
step "tree" "split" { files = { "p/a" = "A" } }
step "text" "said" { text = "{\"x\": \"y\"}" }
step "text" "each" {
  for_each = files(step.tree.split.out, "p/*")
  after    = each.file
  text     = ` + c.text + "\n}\n"
			with := beside
			with.Vars = map[string]string{"token": "s3cret"}
			if c.more != secret {
				with.Vars, src = nil, "\n"+strings.TrimPrefix(src, c.more)
			}
			p, ds := pipeline.Load(map[string][]byte{"t.hcl": []byte(src)}, with)
			testkit.None(t, ds.Err())
			pl, err := plan.Build("t.hcl", p, kinds, nil)
			testkit.None(t, err)
			d, err := plan.Store(t.Context(), store.Blobs, pl)
			testkit.None(t, err)
			out, err := a.Do(t.Context(), workflows.DoRequest{Plan: d, RunID: "1", Steps: []workflows.Ready{{Index: 0}, {Index: 1}}})
			if err != nil || out[0].Status != runs.Ran {
				t.Fatal(out, err)
			}
			if c.away {
				a.Store = artifacts.Alone(storetest.Hooked(store, storetest.Before(func(_ context.Context, call *storetest.Call) error {
					if call.Method == storetest.BlobsOpen && call.Digest == artifacts.Sum([]byte(`{"x": "y"}`)) {
						return errAway
					}
					return nil
				})))
			}
			var g workflows.Grown
			synctest.Test(t, func(t *testing.T) { // it rests where it leaves the plan to another worker
				g, err = a.Grow(t.Context(), workflows.GrowRequest{Plan: d, RunID: "1", Lock: c.lock, Dir: c.dir})
			})
			if c.away {
				testkit.That(t, errors.Is(err, errAway) && !step.IsPermanent(err), g, err)
				return
			}
			misfits, werr := rowsOf(t.Context(), a, g.Wrong)
			wrong := ""
			if len(misfits) > 0 {
				wrong = misfits[0].Why
			}
			if err != nil || werr != nil || (wrong == "") != (c.wrong == "") || !strings.Contains(wrong, c.wrong) || (g.Unfit == "") != (c.unfit == "") || !strings.Contains(g.Unfit, c.unfit) {
				t.Fatalf("wrong: %v; unfit: %s; %v, %v", misfits, g.Unfit, err, werr)
			}
			if c.want == "" {
				return
			}
			is, err := a.storedPlan(t.Context(), g.Plan)
			testkit.None(t, err)
			var have text
			if err := json.Unmarshal(is.Steps[len(is.Steps)-1].Task.Config, &have); err != nil || have.Text != c.want {
				t.Errorf("%s, want %s", fmt.Sprint(have.Text, err), c.want)
			}
		})
	}
}
