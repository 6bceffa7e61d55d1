package view

import (
	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/lockfile/origins"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/belief"
	"github.com/redsi/redsi/internal/session/journal"
	"github.com/redsi/redsi/internal/session/pilots"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// PlanFacts has what a plan shows besides its preview.
type PlanFacts struct {
	Store    string
	Estimate *estimate.Estimate
	Why      map[int]string // why a step must run
	Causes   map[int]string // the same without values, where values differ
	Slots    int            // steps at a time, for the estimate
	GPUSlots int
	Others   *belief.Others
	Pieces   map[string]int         // how many steps a block had last time, by its BLOCK[*]
	Parts    map[int]plan.Parts     // of steps that are to run, the parts that are there
	Failed   map[int]journal.Failed // what failed for good before, under the same key
	Free     int64                  // bytes free for results; -1: unknown
	Price    float64                // dollars of a card and an hour; -1: not asked for

	Unfit  map[int]string // which steps this machine, or pilots, never have enough for, and why
	Pilots []pilots.Use   // of Slurm; nil: not asked for

	Folders   []origins.Folder
	Libraries []string // interpreters' packages that are part of keys, a sentence each
	Unkeyed   []string // packages of which keys have nothing, likewise
}

// fits reports whether the results fit on the disk; true if its free space is unknown.
func (f *PlanFacts) fits() bool { return f.Free < 0 || f.Estimate.Bytes <= f.Free }

// fetch is how many bytes of a step would be fetched from other stores.
func (f *PlanFacts) fetch(i int) (size int64, ok bool) {
	if f.Others != nil {
		size, ok = f.Others.Fetch[i]
	}
	return size, ok
}

type PlanStep struct {
	Address string            `json:"address"`
	Kind    string            `json:"kind"`
	Outcome plan.Outcome      `json:"outcome"`
	Key     *artifacts.Digest `json:"key,omitempty"`
	Waits   []string          `json:"waits_for,omitempty"`        // for maybe: the steps whose outputs decide
	Pieces  int               `json:"pieces_last_time,omitempty"` // of an address BLOCK[*], whose steps are still unknown
	Gathers []Gathering       `json:"gathers,omitempty"`          // blocks whose steps it goes on without if they fail
	Parts   *plan.Parts       `json:"parts,omitempty"`            // some have results: they do not run
	Reason  string            `json:"reason,omitempty"`
	Failed  *journal.Failed   `json:"failed_before,omitempty"` // under the same key
	Resumes bool              `json:"resumes,omitempty"`       // from a checkpoint
	TookS   *float64          `json:"took_s,omitempty"`        // of the result, for a hit
	Bytes   *int64            `json:"bytes,omitempty"`         // of its outputs
	Origin  string            `json:"origin,omitempty"`        // the run it came from
	From    string            `json:"from,omitempty"`          // the other store that has it
	Fetch   *int64            `json:"fetch_bytes,omitempty"`

	Accepted *artifacts.Acceptance `json:"accepted,omitempty"` // why the result is valid for this key

	Expect    *float64       `json:"expect_s,omitempty"` // seconds: the median of earlier results
	ExpectP90 *float64       `json:"expect_p90_s,omitempty"`
	Basis     estimate.Basis `json:"expect_of,omitempty"` // whose results they are: step, block or kind; or rates
	Why       string         `json:"unknown,omitempty"`   // why there is none, of a step that says its work
	Size      *int64         `json:"expect_bytes,omitempty"`
	Memory    int64          `json:"memory,omitempty"` // peak: of a hit, or the expected 90 % quantile

	Resources *step.Resources `json:"resources,omitempty"` // what it asks for
	Unfit     string          `json:"unfit,omitempty"`     // what this machine, or each pilot, has too little of
	FarOff    string          `json:"far_off,omitempty"`   // how its request is from what it took
	Released  bool            `json:"released,omitempty"`  // of a hit: its bytes have left the store on purpose

	Fails []string `json:"fails,omitempty"` // failed checks of a hit, which stop its readers
	Warns []string `json:"warns,omitempty"`
	File  string   `json:"file"`
	Line  int      `json:"line"`
}

type PlanBlock struct {
	estimate.Group
	Reasons []Reason `json:"reasons,omitempty"` // most frequent first
}

type Reason struct {
	Reason string `json:"reason"`
	Steps  int    `json:"steps"`
}

type PlanEstimate struct {
	*estimate.Estimate
	By      map[estimate.Basis]int `json:"known_by"`
	Dollars *float64               `json:"cost,omitempty"`  // of the hours on GPUs
	Rates   []string               `json:"rates,omitempty"` // whose prices are of, and when they were measured

	Slots        int          `json:"slots"`
	GPUSlots     int          `json:"gpu_slots"`
	Wall         float64      `json:"wall_at_least_s"`
	CriticalPath []PathedStep `json:"critical_path"`
	Free         *int64       `json:"free_bytes,omitempty"`
	Fits         *bool        `json:"fits,omitempty"`
	MemoryOf     string       `json:"memory_of,omitempty"`
}

type PathedStep struct {
	Address string   `json:"address"`
	Expect  *float64 `json:"expect_s,omitempty"`
}

// Gathering is a block several of whose steps another one reads, and how many of these must have results.
type Gathering struct {
	Block string `json:"block"`
	Of    int    `json:"of"`
	Least int    `json:"at_least"`
}

func gatherings(p *plan.Plan, i int) []Gathering {
	return lists.Map(p.Steps[i].Gathers, func(g plan.Gather) Gathering { return Gathering{p.Steps[g.Of[0]].Block(), len(g.Of), g.Least} })
}

type PlanJSON struct {
	Pipeline string             `json:"pipeline"`
	Store    string             `json:"store"`
	Targets  []string           `json:"targets,omitempty"`
	Steps    []PlanStep         `json:"steps"`
	Skipped  []pipeline.Skipped `json:"skipped,omitempty"` // their when is false
	Summary  plan.Summary       `json:"summary"`
	Blocks   []PlanBlock        `json:"blocks"`
	Tables   []estimate.Group   `json:"tables"` // what each needs; "" what none does
	Estimate PlanEstimate       `json:"estimate"`
	Others   *belief.OthersJSON `json:"others,omitempty"`

	Folders   []origins.Folder `json:"folders,omitempty"` // of source blocks
	Pilots    []pilots.Use     `json:"pilots,omitempty"`  // of Slurm, with --slurm
	Libraries []string         `json:"libraries,omitempty"`
	Unkeyed   []string         `json:"not_in_keys,omitempty"`
}

func NewPlanJSON(v *plan.Preview, f PlanFacts) PlanJSON {
	out := PlanJSON{Pipeline: v.Plan.Pipeline, Store: f.Store, Targets: v.Plan.Targets, Skipped: v.Plan.Skipped, Summary: v.Summary(),
		Steps: make([]PlanStep, 0, len(v.Items)), Tables: f.Estimate.Tables(v), Estimate: estimateJSON(v, f), Others: f.Others.JSON(v), Folders: f.Folders, Pilots: f.Pilots, Libraries: f.Libraries, Unkeyed: f.Unkeyed}
	off := f.Estimate.FarOff(v)
	for i, s := range v.Plan.Steps {
		it, x := v.Items[i], f.Estimate.At(i)
		p := PlanStep{Address: s.Address, Kind: s.Task.Kind, Outcome: it.Outcome, File: s.Pos.File, Line: s.Pos.Line,
			Pieces: f.Pieces[s.Address], Reason: f.Why[i], Resumes: x.Resumes, Basis: x.Basis, Fails: it.Snags().Fails, Warns: it.Snags().Warns, Resources: s.Resources, Unfit: f.Unfit[i], FarOff: off[i]}
		if !it.Key.IsZero() {
			p.Key = &it.Key
		}
		if parts, ok := f.Parts[i]; ok {
			p.Parts = &parts
		}
		if failed, ok := f.Failed[i]; ok {
			p.Failed = &failed
		}
		p.Gathers = gatherings(v.Plan, i)
		p.Waits = v.Plan.Addresses(it.Snags().Waits)
		if it.Outcome == plan.Hit {
			p.TookS, p.Bytes, p.Origin, p.Accepted = new(it.Took.Seconds()), &it.Bytes, it.Run, it.Accepted
			p.From, p.Released = it.From, it.Released
			if size, ok := f.fetch(i); ok {
				p.Fetch = &size
			}
		} else if x.Basis != estimate.Nothing {
			p.Expect, p.ExpectP90 = new(x.P50.Seconds()), new(x.P90.Seconds())
		}
		p.Why = x.Why
		p.Memory = max(x.Memory, it.Memory)
		if it.Outcome != plan.Hit && x.Bytes >= 0 {
			p.Size = &x.Bytes
		}
		out.Steps = append(out.Steps, p)
	}
	blocks, of := f.Estimate.Blocks(v)
	why := reasons(len(blocks), of, f)
	for n, g := range blocks {
		out.Blocks = append(out.Blocks, PlanBlock{g, why[n]})
	}
	return out
}

func estimateJSON(v *plan.Preview, f PlanFacts) PlanEstimate {
	e := f.Estimate
	out := PlanEstimate{Estimate: e, By: basesOf(v, e), Slots: f.Slots, GPUSlots: f.GPUSlots, Wall: e.Wall(f.Slots, f.GPUSlots)}
	if e.Memory > 0 {
		out.MemoryOf = v.Plan.Steps[e.MemoryOf].Address
	}
	for _, i := range e.CriticalPath {
		p := PathedStep{Address: v.Plan.Steps[i].Address}
		if x := e.Each[i]; x.Basis != estimate.Nothing {
			p.Expect = new(x.P50.Seconds())
		}
		out.CriticalPath = append(out.CriticalPath, p)
	}
	for _, r := range e.By() {
		out.Rates = append(out.Rates, r.String())
	}
	if f.Price >= 0 {
		out.Dollars = new(f.Price * e.GPU)
	}
	if f.Free >= 0 {
		out.Free, out.Fits = &f.Free, new(f.fits())
	}
	return out
}

// basesOf counts the steps that are not hits by the history used for their estimate.
func basesOf(v *plan.Preview, e *estimate.Estimate) map[estimate.Basis]int {
	n := map[estimate.Basis]int{}
	for i, it := range v.Items {
		if b := e.At(i).Basis; it.Outcome != plan.Hit && b != estimate.Nothing {
			n[b]++
		}
	}
	return n
}
