package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Observation is one run's value in a design of two factors, such as MRR@10 of an
// identifier type with a serialization (the factor) under a grouping (the other).
type Observation struct {
	Group string // identifier type
	Level string // of the factor whose effect is asked for
	Other string // level of the other factor
	Seed  int64
	Value float64
}

// Effects are differences between two levels of a factor, paired by seed.
type Effects struct {
	Groups map[string]Summary // over seeds, of the mean over the other factor's levels
	Global Summary            // over seeds, of the mean over groups within each seed
}

// PairedEffects computes to - from (paper, tab:representation-grouping-effects).
// The design must be complete: every group, other level and seed has exactly one
// value at either level. Other levels of the factor are ignored.
func PairedEffects(observations []Observation, from, to string) (*Effects, error) {
	type cell struct {
		group, other string
		seed         int64
	}
	var groups []string
	others, seeds := map[string]bool{}, map[int64]bool{}
	values := map[string]map[cell]float64{from: {}, to: {}}
	for _, o := range observations {
		level, ok := values[o.Level]
		if !ok {
			continue
		}
		if !slices.Contains(groups, o.Group) {
			groups = append(groups, o.Group)
		}
		others[o.Other], seeds[o.Seed] = true, true
		c := cell{o.Group, o.Other, o.Seed}
		if _, ok := level[c]; ok {
			return nil, fmt.Errorf("%s, %s, %s, seed %d has two values", o.Group, o.Level, o.Other, o.Seed)
		}
		level[c] = o.Value
	}
	if len(groups) == 0 || from == to {
		return nil, fmt.Errorf("no values to compare %q with %q", to, from)
	}

	effects := &Effects{Groups: map[string]Summary{}}
	bySeed := make([]float64, len(seeds)) // mean over groups
	sortedOthers, sortedSeeds := sortedKeys(others), sortedKeys(seeds)
	for _, g := range groups {
		differences := make([]float64, len(seeds))
		for i, seed := range sortedSeeds {
			for _, other := range sortedOthers {
				c := cell{g, other, seed}
				for _, level := range []string{from, to} {
					if _, ok := values[level][c]; !ok {
						return nil, fmt.Errorf("%s, %s, %s, seed %d has no value; effects need every combination", g, level, other, seed)
					}
				}
				differences[i] += (values[to][c] - values[from][c]) / float64(len(others))
			}
			bySeed[i] += differences[i] / float64(len(groups))
		}
		effects.Groups[g] = Summarize(differences)
	}
	effects.Global = Summarize(bySeed)
	return effects, nil
}

func sortedKeys[K cmp.Ordered](m map[K]bool) []K { return slices.Sorted(maps.Keys(m)) }
