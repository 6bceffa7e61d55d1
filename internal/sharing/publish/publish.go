// Package publish writes a plan's results, and pages about them, into a folder that any web server can serve: it decides
// what is published and what readers fetch elsewhere, and writes the layout of a store, an index by steps, and the pages
// for people. It overwrites only what it wrote.
//
// It must not know flags, or how the outcome is shown.
package publish

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/report"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/sharing/choose"
	"github.com/redsi/redsi/internal/sharing/transfer"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/words"
)

// Options say what is published.
type Options struct {
	Folder     string
	Targets    []string
	Over       int64  // leave out larger files, except of tables and figures; 0: none
	Limit      string // Over as it was given
	Incomplete bool
	DryRun     bool
	URL        string // where readers will find it
}

// Publication lists what is published and what is left out.
type Publication struct {
	Folder  string                `json:"folder"`
	Tables  int                   `json:"tables"`
	Figures int                   `json:"figures"`
	Signer  string                `json:"signer,omitempty"`
	Signed  int                   `json:"signed"`
	Left    []Unpublished         `json:"left_out"`
	Must    []string              `json:"readers_run"` // steps that readers would have to run
	Hosts   []string              `json:"hosts"`       // named in the records
	Done    artifacts.Transferred `json:"transferred"`
	DryRun  bool                  `json:"dry_run"`
	All     int                   `json:"results"`           // in the folder
	Rebuilt string                `json:"rebuilt,omitempty"` // by whom, as text

	o       Options
	index   publicationIndex
	needed  []bool // steps that readers must have
	skipped map[int]bool
	must    []bool
	keys    []artifacts.Digest
	out     map[artifacts.Digest]bool // blobs that are left out
}

// Unpublished is a blob that is not published.
type Unpublished struct {
	Step   string           `json:"step"`
	Name   string           `json:"name"`
	Digest artifacts.Digest `json:"digest"`
	Size   int64            `json:"size"`
	URL    string           `json:"url,omitempty"` // where readers fetch it
}

// Publish publishes the targets of a session's pipeline, signed with the user's key, if there is one. It refuses a folder
// with pages that it did not write.
func Publish(ctx context.Context, se *session.Session, o Options) (*Publication, error) {
	if strings.Contains(o.Folder, "://") {
		return nil, fault.Input(fmt.Errorf("%s is not a folder: publish into one and copy it to where it is served; `%s` copies results between stores", o.Folder, se.Hint("push", o.Folder)))
	}
	var pub *Publication
	var g *report.Gatherer
	v, err := se.Preview(ctx, func(of session.Seen) (_ plan.Keep, err error) {
		if pub, err = begin(of.Plan, o); err != nil {
			return nil, err
		}
		book, err := se.Book(ctx, of.Store.Own)
		g = report.Gather(of.Plan, book)
		return g.Keep, err
	})
	if err != nil {
		return nil, err
	}
	if err := se.SayDown(v.Store, session.MayHave(v.Preview, nil)); err != nil {
		return nil, err
	}
	if err := pub.choose(ctx, v.Store, v.Preview); err != nil {
		return nil, err
	}
	if err := pub.check(v.Preview, se.ToRun(o.Targets...)); err != nil {
		return nil, err
	}
	to, err := transfer.Open(ctx, o.Folder, true, o.DryRun)
	if err != nil {
		return nil, fault.Input(err)
	}
	if to.URL == v.Store.Own.URL {
		return nil, fault.Input(fmt.Errorf("%s is the store itself: publish into another folder", o.Folder))
	}
	if o.DryRun {
		return pub, pub.send(ctx, se, v.Store.Own.Reader(), to)
	}
	if err := se.Bring(ctx, v.Store, v.Preview, pub.publishes); err != nil {
		return nil, err
	}
	if err := pub.send(ctx, se, v.Store.Own.Reader(), to); err != nil {
		return nil, err
	}
	if err := artifacts.ListAbout(ctx, to, pub.keys); err != nil { // a static host lists nothing
		return nil, err
	}
	if err := pub.index.write(pub.Folder, v.Preview, pub.publishes); err != nil {
		return nil, err
	}
	r, err := g.Build(ctx, v.Preview, v.Store.Open, report.Options{Store: "this folder", Paper: v.Pipeline.Paper, Claims: v.Pipeline.Claims})
	if err != nil {
		return nil, err
	}
	return pub, pub.writePages(ctx, to, r, v.Pipeline)
}

// send copies the publication, and signs it with the user's key, if there is one.
func (pub *Publication) send(ctx context.Context, se *session.Session, from artifacts.Reader, to artifacts.Store) error {
	k, err := se.Signer()
	if err != nil {
		return err
	}
	sent, over := se.Copying("written", 0)
	err = pub.copy(ctx, from, to, sent)
	over()
	if err != nil || k == nil || pub.DryRun {
		return err
	}
	pub.Signer = k.Public().String()
	for _, key := range pub.keys {
		if _, err := artifacts.SignResult(ctx, to, key, k); err != nil {
			return err
		}
		pub.Signed++
	}
	return nil
}

// begin begins a publication of a plan: then choose, check, send and writePages.
func begin(pl *plan.Plan, o Options) (pub *Publication, err error) {
	pub = &Publication{Folder: o.Folder, Left: []Unpublished{}, Must: []string{}, Hosts: []string{}, DryRun: o.DryRun, o: o, skipped: map[int]bool{}, out: map[artifacts.Digest]bool{}}
	if pub.needed, err = needed(pl, o.Targets); err != nil {
		return nil, err
	}
	if err := foreignPages(o.Folder); err != nil {
		return nil, err
	}
	if pub.index, err = readPublication(o.Folder); err != nil {
		return nil, fault.Input(err)
	}
	return pub, nil
}

// needed returns the steps that readers must have: the targets, or else tables, figures and the steps that they need.
// Other steps are published if they have results.
func needed(pl *plan.Plan, targets []string) ([]bool, error) {
	needed := make([]bool, len(pl.Steps))
	found := false
	for i := len(pl.Steps) - 1; i >= 0; i-- { // readers of a step come after it
		if len(targets) > 0 || pl.Steps[i].IsRendered() {
			needed[i], found = true, true
		}
		if needed[i] {
			for _, d := range pl.Steps[i].Deps {
				needed[d] = true
			}
		}
	}
	if !found {
		return nil, fault.Input(errors.New("the pipeline has neither tables nor figures: say what to publish with --target"))
	}
	return needed, nil
}

const chunk = 1024 // bounds the results in memory

// choose decides what is published: each hit of a preview, except a hit with a blob left out that readers cannot fetch.
func (pub *Publication) choose(ctx context.Context, store *artifacts.Resolver, v *plan.Preview) error {
	var hits []int
	for i, it := range v.Items {
		if it.Outcome != plan.Hit {
			pub.skipped[i] = true
			continue
		}
		hits = append(hits, i)
		switch address.Of(v.Plan.Steps[i].Address).Type() {
		case "table":
			pub.Tables++
		case "figure":
			pub.Figures++
		}
	}
	hosts := map[string]bool{}
	blobs := choose.Blobs{}
	var own []artifacts.Digest // blobs of results that no other store has to send
	for some := range slices.Chunk(hits, chunk) {
		found, err := session.ResultsAt(ctx, store, v, some)
		if err != nil {
			return err
		}
		for n, i := range some {
			r, s := found[n], &v.Plan.Steps[i]
			if r == nil {
				return fmt.Errorf("%s: its result has gone since it was looked up; repeat the command", s.Address)
			}
			for _, place := range []string{r.Env["host"], r.Env["job"]} {
				if place != "" {
					hosts[place] = true
				}
			}
			blobs.Outputs(i, r, s.IsRendered())
			if r.From == "" {
				own = slices.AppendSeq(own, maps.Keys(r.Sizes()))
			}
		}
	}
	pub.Hosts = append(pub.Hosts, slices.Sorted(maps.Keys(hosts))...)
	if err := pub.leaveOut(ctx, store, v, blobs, own); err != nil {
		return err
	}
	pub.keys = lists.Map(lists.Filter(hits, pub.publishes), func(i int) artifacts.Digest { return v.Items[i].Key })
	pub.must = make([]bool, len(v.Items)) // only its run determines the keys of the steps after it
	for i, s := range v.Plan.Steps {
		if pub.must[i] = pub.skipped[i] || slices.ContainsFunc(s.Deps, func(d int) bool { return pub.must[d] }); pub.must[i] {
			pub.Must = append(pub.Must, s.Address)
		}
	}
	return nil
}

// leaveOut records the blobs that are too large to publish, and the blobs that are elsewhere.
func (pub *Publication) leaveOut(ctx context.Context, store *artifacts.Resolver, v *plan.Preview, blobs choose.Blobs, own []artifacts.Digest) error {
	urls, err := origins.Addresses(v.Plan)
	if err != nil {
		return err
	}
	blobs.Addressed(urls)
	if _, err := blobs.Away(ctx, store.Own, own); err != nil {
		return err
	}
	blobs.Take(choose.Choice{Which: choose.All, Over: pub.o.Over})
	for _, c := range blobs.LeftOut() {
		pub.Left = append(pub.Left, Unpublished{Step: v.Plan.Steps[c.Steps[0]].Address, Name: c.Name, Digest: c.Digest, Size: c.Size, URL: c.URL})
		pub.out[c.Digest] = true
		if c.URL != "" {
			continue
		}
		for _, i := range c.Steps {
			pub.skipped[i] = true
		}
	}
	return nil
}

// publishes reports whether the result of a step, which is a hit, is published.
func (pub *Publication) publishes(i int) bool { return !pub.skipped[i] }

// check refuses an empty publication, and, unless it may be incomplete, a publication that readers could not use in full.
// run is the command that computes results.
func (pub *Publication) check(v *plan.Preview, run string) error {
	if pub.o.Incomplete {
		if len(pub.keys) == 0 {
			return fault.Input(fmt.Errorf("nothing to publish has a result: %s", run))
		}
		return nil
	}
	needed := lists.Filter(lists.Places(len(v.Items)), func(i int) bool { return pub.needed[i] })
	missing := lists.Filter(needed, func(i int) bool { return v.Items[i].Outcome != plan.Hit })
	if len(missing) > 0 {
		return fault.Input(fmt.Errorf("%d of %d steps have no result, such as %s, so readers would have to run them: run them first, or publish without them with --incomplete", len(missing), len(needed), v.Plan.Steps[missing[0]].Address))
	}
	lost := lists.Filter(pub.Left, func(l Unpublished) bool { return l.URL == "" })
	if len(lost) > 0 {
		toRun := lists.Count(needed, func(i int) bool { return pub.must[i] })
		list := ""
		for _, l := range words.First(lost, 10, func(n int) { list += fmt.Sprintf("\n  and %d more", n) }) {
			list += fmt.Sprintf("\n  %s of %s, %s", l.Name, l.Step, words.Size(l.Size))
		}
		return fault.Input(fmt.Errorf("%s over %s that no step downloads from an https address with a digest:%s\nWithout them readers would have to run %s; --incomplete leaves them out anyway",
			words.Count(len(lost), "file"), pub.o.Limit, list, words.Count(toRun, "step")))
	}
	return nil
}

// leftOutBlobs are a publication's blobs: blobs that are left out count as present.
type leftOutBlobs struct {
	artifacts.Blobs
	out map[artifacts.Digest]bool
}

func (b leftOutBlobs) Missing(ctx context.Context, ds []artifacts.Digest) ([]artifacts.Digest, error) {
	missing, err := b.Blobs.Missing(ctx, ds)
	return slices.DeleteFunc(missing, func(d artifacts.Digest) bool { return b.out[d] }), err
}

// copy writes blobs, results and their signatures into the folder's store; sent is told of bytes as they are written.
func (pub *Publication) copy(ctx context.Context, from artifacts.Reader, to artifacts.Store, sent func(n int64)) error {
	for _, l := range pub.Left {
		if l.URL == "" || pub.DryRun {
			continue
		}
		if err := artifacts.PutElsewhere(ctx, to, artifacts.Elsewhere{Digest: l.Digest, Size: l.Size, URL: l.URL}); err != nil {
			return err
		}
	}
	partly := to
	partly.Blobs = leftOutBlobs{to.Blobs, pub.out}
	t := &artifacts.Transfer{From: from, To: partly, DryRun: pub.DryRun, Sent: sent}
	err := t.Results(ctx, pub.keys)
	pub.Done = t.Done()
	if err != nil {
		return fmt.Errorf("%w; the same command continues from there", err)
	}
	if n := len(pub.Done.Differs); n > 0 {
		return fmt.Errorf("%s has different outputs of %s than this store, such as for key %s, which readers would get: publish into a new folder", pub.Folder, words.Count(n, "step"), pub.Done.Differs[0].Hex())
	}
	return nil
}
