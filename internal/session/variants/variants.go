// Package variants compares two variants of a pipeline, of commits, folders or files: what the
// change from one to the other costs. It must not know flags, or how that is shown.
package variants

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/git"
	"github.com/redsi/redsi/internal/paper/expect"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/impact"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/shellwords"
)

// Variant is one of the two pipelines that are compared.
type Variant struct {
	Name   string            // to show
	File   string            // of the pipeline
	id     string            // of a commit; "" if the files are read as they are here
	claims *[]pipeline.Claim // filled in if set
}

// comparer reads and plans variants; show shows what is wrong with one.
type comparer struct {
	*session.Session
	show func(pipeline.Diagnostics) error
}

// Revisions reads REV, REV.., REV..REV2 and REV...REV2, of the pipeline in a file.
func Revisions(ctx context.Context, file, arg string) (x, y Variant, err error) {
	if info, serr := os.Stat(arg); serr == nil && (info.IsDir() || strings.HasSuffix(arg, ".hcl")) {
		return x, y, fault.Input(fmt.Errorf("%s is a file or folder: give another one to compare it with; a branch of that name is written refs/heads/NAME", arg))
	}
	folder := session.ProjectDir(file)
	from, to, isRange := strings.Cut(arg, "..")
	to, common := strings.CutPrefix(to, ".")
	if from == "" || strings.Contains(to, "..") {
		return x, y, fault.Input(fmt.Errorf("%s is not a range of commits: write REV, REV..REV2 or REV...REV2, or give two folders or two runs", arg))
	}
	if x, err = commit(ctx, file, from); err != nil {
		return x, y, err
	}
	if !isRange {
		return x, Variant{Name: "the files here", File: file}, nil
	}
	if y, err = commit(ctx, file, cmp.Or(to, "HEAD")); err != nil || !common {
		return x, y, err
	}
	base, err := git.MergeBase(ctx, folder, x.id, y.id)
	if err != nil {
		return x, y, fault.Input(fmt.Errorf("%s: %w", arg, err))
	}
	x.id, x.Name = base, fmt.Sprintf("%.12s, the common ancestor of %s and %s", base, from, to)
	return x, y, nil
}

func commit(ctx context.Context, file, name string) (Variant, error) {
	folder := session.ProjectDir(file)
	id, err := git.Resolve(ctx, folder, name)
	if err != nil {
		if _, terr := git.Run(ctx, "-C", folder, "rev-parse", "--show-toplevel"); terr != nil {
			return Variant{}, fault.Input(fmt.Errorf("%s is not in a git repository that can be read (%w): give two folders to compare, or two runs", shellwords.Quote(folder), terr))
		}
		return Variant{}, fault.Input(fmt.Errorf("there is no commit, branch or tag %s in the repository of %s; to compare runs, give two", name, shellwords.Quote(folder)))
	}
	return Variant{Name: fmt.Sprintf("%s (%.12s)", name, id), File: file, id: id}, nil
}

// Impact says what the change between variants costs; show shows what is wrong with one that cannot be read.
func Impact(ctx context.Context, se *session.Session, x, y Variant, show func(pipeline.Diagnostics) error) (*impact.Report, error) {
	c := &comparer{Session: se, show: show}
	was, noneA, notesA, err := c.planVariant(ctx, x)
	if err != nil {
		return nil, err
	}
	var claims []pipeline.Claim
	y.claims = &claims
	is, noneB, notesB, err := c.planVariant(ctx, y)
	if err != nil {
		return nil, err
	}
	for _, t := range noneA {
		if slices.Contains(noneB, t) {
			return nil, se.TargetError(&plan.UnknownTarget{Target: t})
		}
	}
	store, err := se.OpenStore(ctx)
	if err != nil {
		return nil, err
	}
	before, err := se.PreviewOf(ctx, store, was, plan.KeepNone)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.Name, err)
	}
	after, err := se.PreviewOf(ctx, store, is, plan.KeepNone)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", y.Name, err)
	}
	past, err := se.Journal(ctx, store.Own, after)
	if err != nil {
		return nil, err
	}
	e, err := se.EstimateOf(ctx, store, after, past)
	if err != nil {
		return nil, err
	}
	earlier, err := se.Journal(ctx, store.Own, before)
	if err != nil {
		return nil, err
	}
	newest := newestPreimages{store: store, preview: before, past: earlier}
	r, err := impact.Compare(ctx, impact.Sides{Registry: se.Registry, Was: before, Is: after, Estimate: e,
		Newest: newest.of, Diff: se.Differ(ctx, store), Claims: claimsOf(claims)})
	if err != nil {
		return nil, err
	}
	r.A, r.B = x.Name, y.Name
	r.Notes = append(append(r.Notes, notesA...), notesB...)
	return r, nil
}

// newestPreimages reads the preimages of the newest results of steps without hits, many at a time.
type newestPreimages struct {
	store   *artifacts.Resolver
	preview *plan.Preview
	past    *journal.Journal
	held    map[int][]byte
	upTo    int // how many steps were read
}

func (n *newestPreimages) of(ctx context.Context, i int) ([]byte, error) {
	if i < n.upTo {
		return n.held[i], nil
	}
	n.held = map[int][]byte{}
	at := map[int]artifacts.Digest{}
	var keys []artifacts.Digest
	for n.upTo = i; n.upTo < len(n.preview.Items) && len(keys) < journal.InspectMost; n.upTo++ {
		key, ok := n.past.Key[n.preview.Plan.Steps[n.upTo].Address]
		if it := n.preview.Items[n.upTo]; ok && it.Outcome != plan.Hit && key != it.Key {
			at[n.upTo] = key
			keys = append(keys, key)
		}
	}
	found, err := artifacts.LookupMany(ctx, n.store, keys)
	if err != nil {
		return nil, err
	}
	for step, key := range at {
		if r := found[key]; r != nil {
			n.held[step] = r.Preimage
		}
	}
	return n.held[i], nil
}

// claimsOf are the sentences of the paper that are about a table or figure, by its address.
func claimsOf(claims []pipeline.Claim) func(address string) []string {
	return func(address string) []string {
		return lists.Map(expect.Touched(claims, address), pipeline.Claim.Text)
	}
}
