package drive

import (
	"testing"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/capacity"
	"github.com/redsi/redsi/internal/host/slurm"
	"github.com/redsi/redsi/internal/runs"
	"github.com/redsi/redsi/internal/session/pilots"
	"github.com/redsi/redsi/workflows"
)

// TestOpen: pilots are for what is queued, runs, or was given out with others, and for nothing that waits.
func TestOpen(t *testing.T) {
	p := &Pilots{Site: &slurm.Site{Max: 3, Pilots: []slurm.Pilot{{Has: capacity.Amount{CPUs: 2, Memory: 1e9}, Time: time.Hour, Max: 9}, {Has: capacity.Amount{CPUs: 8, Memory: 1e9}, Time: time.Hour, Max: 2}}}, steps: map[string]pilots.Step{}}
	var v Sight
	for address, s := range map[string]workflows.StepState{"queued": {Status: runs.Queued, Activity: "work-1"}, "runs": {Status: runs.Running, Activity: "work-2"},
		"batched": {Status: runs.Waiting, Activity: "work-3"}, "waits": {Status: runs.Waiting}, "ran": {Status: runs.Ran, Activity: "work-3"}} {
		s.Address, p.steps[address] = address, pilots.Step{Address: address}
		v.State.Steps = append(v.State.Steps, s)
	}
	ready, begun := p.open(t.Context(), nil, artifacts.Store{}, v, time.Now())
	got := map[string]bool{}
	for _, s := range ready {
		got[s.Address] = true
	}
	if len(ready) != 2 || !got["queued"] || !got["batched"] || len(begun) != 1 || begun[0].Address != "runs" {
		t.Errorf("%v, %v", ready, begun)
	}
	if n := p.slots(); n != 18 {
		t.Errorf("%d slots, want two pilots of eight and one of two", n)
	}
}

func TestSlurmJob(t *testing.T) {
	for place, want := range map[string]string{"vm, slurm 47_3 on n1": "47_3", "vm, slurm 47 on n1": "47", "vm": "", "vm, pbs 12.head on h": "", "": ""} {
		if got := slurmJob(place); got != want {
			t.Errorf("%q: %q, want %q", place, got, want)
		}
	}
}
