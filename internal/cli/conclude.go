package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/cli/view"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/drive"
	"github.com/redsi/redsi/internal/sharing/files"
	"github.com/redsi/redsi/internal/sharing/rebuild"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

type runSummary struct {
	*drive.Summary
	Compared     []rebuild.Compared  `json:"compared,omitempty"`
	Started      time.Time           `json:"started"`
	TookS        float64             `json:"took_s"`
	Rendered     []files.Rendered    `json:"rendered"`
	Stale        []files.Rendered    `json:"stale,omitempty"` // of earlier runs
	Published    []files.Published   `json:"published,omitempty"`
	LeftOut      []pipeline.Skipped  `json:"skipped_by_when,omitempty"`
	Incomplete   map[string][]string `json:"incomplete,omitempty"` // tables and figures: the steps that failed, without which they are
	Expectations *expect.Summary     `json:"expectations,omitempty"`
}

// tablesPrinted is how many tables a run prints in full; for more it lists files.
const tablesPrinted = 3

const namesShown = 3 // steps in a line

// conclude writes the tables and figures of the plan as files and prints the outcome.
func (a *app) conclude(ctx context.Context, o runOptions, out *runSummary) error {
	of := out.Of
	var tables []string
	names := files.NamesOf(of.Pipeline.Steps)
	out.Incomplete = map[string][]string{}
	over := a.Waiting("writing the tables and figures")
	defer over()
	for _, i := range a.rendered(of.Plan) {
		s := of.Plan.Steps[i]
		res := of.Items[i].Result
		if res == nil { // it, or what it reads, failed
			continue
		}
		var marked map[string]func(io.Writer) error
		lacks := of.LacksOf(i)
		if len(lacks) > 0 && res.Outputs["latex"].Size > 0 {
			if err := a.Outlast(ctx, func() (err error) { marked, err = lacking(ctx, of.Store, res, len(lacks)); return err }); err != nil {
				return fmt.Errorf("%s: %w", s.Address, err)
			}
		}
		for _, output := range slices.Sorted(maps.Keys(res.Outputs)) {
			path := filepath.Join(o.outDir, address.Of(s.Address).Type()+"s", names.Of(s.Address, output))
			write := func() error {
				if marked[output] != nil {
					return atomicfile.Write(path, 0o644, marked[output])
				}
				return files.Write(ctx, of.Store, res.Outputs[output].Digest, res.Outputs[output].Size, path)
			}
			if err := a.Outlast(ctx, write); err != nil {
				return fmt.Errorf("%s: %w", s.Address, err)
			}
			if len(lacks) > 0 {
				out.Incomplete[s.Address] = of.Plan.Addresses(lacks)
			}
			out.Rendered = append(out.Rendered, files.Rendered{Address: s.Address, Path: path, Digest: res.Outputs[output].Digest})
			if output == "markdown" {
				tables = append(tables, path)
			}
		}
	}
	var err error
	if out.Stale, err = a.stale(o, out); err != nil {
		return err
	}
	failed := a.publish(ctx, out, names)
	over()
	var judged *expect.Judged
	if err := a.Outlast(ctx, func() (err error) {
		judged, err = a.judge(ctx, of.Store, of.Preview, of.Pipeline)
		return err
	}); err != nil {
		return err
	}
	sum := judged.Summary()
	out.Expectations = &sum
	out.TookS, out.LeftOut = time.Since(out.Started).Seconds(), of.Plan.Skipped
	if failed == nil && o.strict && !sum.Ok(false) { // steps that have not run have their own error
		failed = fault.Printed(fault.CodeFailed)
	}
	if a.JSON {
		return cmp.Or(view.WriteJSON(a.Out, out), failed)
	}
	if !o.quiet && len(tables) <= tablesPrinted {
		for _, t := range tables {
			b, err := os.ReadFile(t)
			if err != nil {
				return err
			}
			view.Printf(a.Out, "\n%s\n", view.Document(string(b)))
		}
	}
	a.printFiles(out.Rendered, "")
	for _, address := range slices.Sorted(maps.Keys(out.Incomplete)) {
		lacks := out.Incomplete[address]
		view.Printf(a.Out, "%s is incomplete: without %s, which failed or needs what failed\n", address, words.And(lacks, namesShown))
	}
	a.printFiles(out.Stale, "  of an earlier run: this one did not make it")
	view.Published(a.Out, out.Published)
	if len(out.Rendered)+len(out.Published) == 0 && out.Hit+out.Ran > 0 {
		view.Printf(a.Out, "to see what a step made: %s\n", a.hint("artifacts get", "STEP", "FOLDER"))
	}
	view.Compared(a.Out, out.Compared, a.Others.Opened)
	view.Printf(a.Out, "%s: %s, %s.\n", view.Count(len(of.Plan.Steps), "step"), out.Sum(), view.Seconds(time.Since(out.Started)))
	view.Released(a.Out, out.Released)
	view.LeftOut(a.Out, out.LeftOut)
	view.Expectations(a.Out, judged, false)
	return failed
}

// lacking returns writers of a table's files which say how many steps the table, or what it reads, is without. Its result says so only
// if the table itself gathers steps: a complete study that came to the same bytes has the same result.
func lacking(ctx context.Context, store *artifacts.Resolver, res *artifacts.Result, lacks int) (map[string]func(io.Writer) error, error) {
	b, err := expect.ReadOutput(ctx, res, "json", store.Open)
	if err != nil {
		return nil, err
	}
	t, err := render.ReadTable(b)
	t.Lacking(lacks)
	return map[string]func(io.Writer) error{"markdown": t.Markdown, "latex": t.LaTeX, "json": t.JSON}, err
}

// rendered lists the tables and figures of a plan: in the order of the targets that ask for them, otherwise as in the source.
func (a *app) rendered(pl *plan.Plan) []int {
	found := lists.Filter(lists.Places(len(pl.Steps)), func(i int) bool { return pl.Steps[i].IsRendered() })
	rank := func(i int) uint { // without a target it is uint(-1), the last
		return uint(slices.IndexFunc(a.Targets, func(t string) bool { return plan.Matches(t, pl.Steps[i].Address) }))
	}
	slices.SortStableFunc(found, func(x, y int) int { return cmp.Compare(rank(x), rank(y)) })
	return found
}

// stale finds files of tables and figures that this run was asked for and did not write, or that the pipeline no longer has.
func (a *app) stale(o runOptions, out *runSummary) ([]files.Rendered, error) {
	left := map[string]bool{} // of the pipeline, and not of this run
	for _, s := range out.Of.Pipeline.Steps {
		left[s.Address] = !slices.Contains(out.Summary.LeftOut, s.Address)
	}
	for _, s := range out.Of.Plan.Steps {
		left[s.Address] = false
	}
	state, err := filepath.Abs(a.StateDir)
	folder, abs := filepath.Abs(o.outDir) // r2, r2/ and its absolute path are one
	if err = cmp.Or(err, abs); err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(state, folder); err == nil {
		folder = rel
	}
	memory := artifacts.Sum([]byte(out.Of.Plan.Pipeline + "\n" + folder)).Hex()[:16] + ".json"
	return files.Stale(filepath.Join(a.StateDir, "rendered", memory), out.Rendered, func(address string) bool { return !left[address] })
}

// printFiles prints one line per table or figure: results/tables/x.{csv,md}.
func (a *app) printFiles(files []files.Rendered, note string) {
	for i := 0; i < len(files); {
		address, base := files[i].Address, strings.TrimSuffix(files[i].Path, filepath.Ext(files[i].Path))
		var exts []string
		for ; i < len(files) && files[i].Address == address; i++ {
			exts = append(exts, strings.TrimPrefix(files[i].Path, base+"."))
		}
		view.Printf(a.Out, "%s  %s.{%s}%s\n", address, base, strings.Join(exts, ","), note)
	}
}

// publish writes what publish blocks name, of steps that have results. It fails if a file could not be written; the results stay.
func (a *app) publish(ctx context.Context, out *runSummary, names files.Names) (failed error) {
	owners := map[string]string{}             // by files that publish blocks write
	results := map[string]*artifacts.Result{} // of the run's steps; nil if it has not been read
	for i, s := range out.Of.Plan.Steps {
		results[s.Address] = out.Of.Items[i].Result
	}
	for _, block := range out.Of.Pipeline.Publish {
		pipeline := filepath.FromSlash(block.Pos.File)
		file, err := filepath.Abs(pipeline)
		if err != nil {
			return err
		}
		done := files.Published{Name: block.Name, To: path.Join(path.Dir(block.Pos.File), block.To)}
		var list []artifacts.File
		asked := len(a.Targets) == 0
		for _, ref := range block.Files {
			r, in := results[ref.Step]
			asked = asked || in
			found, err := outputFiles(r, ref, names)
			if err != nil {
				return fmt.Errorf("publish %s: %w", block.Name, err)
			}
			if list = append(list, found...); found == nil {
				done.Waits = append(done.Waits, ref.String())
			}
		}
		if !asked {
			continue
		}
		if len(done.Waits) == 0 {
			memory := filepath.Join(a.StateDir, "published", block.Name+"-"+artifacts.Sum([]byte(file)).Hex()[:16]+".json")
			if err = shared(owners, block.Name, done.To, list); err == nil {
				err = a.Outlast(ctx, func() error { return done.Publish(ctx, out.Of.Store, memory, filepath.Dir(pipeline), block.To, list) })
			}
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("publish %s: %w", block.Name, err))
			}
		}
		out.Published = append(out.Published, done)
	}
	return failed
}

// shared refuses files of a publish block that another block writes, too: each would take them for foreign files, or remove them.
func shared(owners map[string]string, block, to string, list []artifacts.File) error {
	for _, f := range list {
		file := path.Join(to, f.Name)
		at := strings.ToLower(file) // for some file systems it is the same
		if other := cmp.Or(owners[at], block); other != block {
			return fmt.Errorf("publish %s writes the file %s, too: nothing of this block was written; give one of them another `to`", other, file)
		}
		owners[at] = block
	}
	return nil
}

// outputFiles are the files of an output; nil if there is none.
func outputFiles(r *artifacts.Result, ref step.Ref, names files.Names) ([]artifacts.File, error) {
	if r == nil || r.Outputs[ref.Output].Type == "" {
		return nil, nil
	}
	art, err := ref.In(r.Outputs[ref.Output])
	if err != nil || art.Files != nil {
		return art.Readable(), err
	}
	name := names.Of(ref.Step, ref.Output)
	if ref.Path != "" {
		name = path.Base(ref.Path)
	}
	return art.Named(name), nil
}

// notifyWithin bounds each of two attempts; notifyAgain is between them.
const notifyWithin = 10 * time.Second

var notifyAgain = time.Second

// notice tells of the end of a run, without texts of steps or errors.
type notice struct {
	Pipeline  string              `json:"pipeline"`
	Run       string              `json:"run,omitempty"` // "": there was nothing to do, or it did not begin
	OK        bool                `json:"ok"`
	Cancelled bool                `json:"cancelled,omitempty"`
	Counts    map[runs.Status]int `json:"counts,omitempty"`
	Seconds   float64             `json:"seconds"`
	Failed    []string            `json:"failed,omitempty"`
}

var (
	isHTTP   = regexp.MustCompile(`^https?://`).MatchString
	schemeOf = regexp.MustCompile(`^[^ /]*://`)
)

// checkNotify refuses addresses of other schemes than http and https.
func (o runOptions) checkNotify() error {
	scheme := schemeOf.FindString(o.notify)
	switch {
	case o.notify != "" && o.Detach:
		return fault.Input(errors.New("--notify cannot be used with --detach: who starts the run does not see its end; `redsi attach` does"))
	case scheme != "" && !isHTTP(o.notify):
		return fault.Input(fmt.Errorf("--notify takes http:// and https:// addresses, or a command, not %s", scheme))
	}
	return nil
}

// notify tells of the end of a run. A failure is only logged.
func (a *app) notify(ctx context.Context, to string, began time.Time, sum *drive.Summary, err error) {
	var stopped *drive.Cancelled
	n := notice{Pipeline: a.File, OK: err == nil, Cancelled: ctx.Err() != nil || errors.As(err, &stopped), Seconds: time.Since(began).Seconds()}
	ctx = context.WithoutCancel(ctx)
	if sum != nil {
		n.Pipeline, n.Run = sum.Pipeline, sum.RunID
		n.Counts = map[runs.Status]int{runs.Hit: sum.Hit, runs.Ran: sum.Ran}
		if n.Run == "" { // nothing to read
		} else if rec, err := runs.Read(ctx, sum.Of.Store.Own, n.Run); err == nil {
			end := drive.EndedOf(rec)
			n.Counts = end.Counts
			n.Failed = lists.Map(end.Failed[:min(len(end.Failed), 100)], func(s drive.Step) string { return s.Address })
		}
	}
	b, _ := json.Marshal(n) // it can be: it is texts and numbers
	err = tell(ctx, to, b)
	if err != nil && readers.Pause(ctx, notifyAgain) == nil {
		err = tell(ctx, to, b)
	}
	if err != nil {
		a.Log.Warn("--notify failed, which changes nothing of the run", "err", err)
	}
}

func tell(ctx context.Context, to string, b []byte) error {
	ctx, stop := context.WithTimeout(ctx, notifyWithin)
	defer stop()
	if !isHTTP(to) {
		cmd := exec.CommandContext(ctx, "sh", "-c", to)
		cmd.Stdin, cmd.WaitDelay = bytes.NewReader(append(b, '\n')), time.Second
		said, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %.500s", err, said)
		}
		return err
	}
	// Errors leave the address out: it may have a password.
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(b))
	if err != nil {
		return errors.New("its address is not a URL")
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return errors.Unwrap(err) // of *url.Error
	}
	res.Body.Close()
	if res.StatusCode >= 300 {
		return fmt.Errorf("the answer was %s", res.Status)
	}
	return nil
}
