package simulate

import (
	"slices"
	"testing"
)

// shrinkPlays bounds the plays by which a script is made smaller.
const shrinkPlays = 400

// shrink makes a script that fails by a rule smaller, as long as it fails by that rule.
func shrink(t *testing.T, s script, rule string) (script, int) {
	plays := 0
	for smaller := true; smaller; {
		smaller = false
		for _, less := range s.smaller() {
			if plays++; plays > shrinkPlays {
				return s, plays
			}
			if out, _ := play(t, less, false); slices.ContainsFunc(judge(out), func(v string) bool { return ruleOf(v) == rule }) {
				s, smaller = less, true
				break
			}
		}
	}
	return s, plays
}

// smaller are scripts with one thing less, the largest things first.
func (s script) smaller() (all []script) {
	with := func(change func(*script)) {
		less := s
		less.Acts, less.Faults = slices.Clone(s.Acts), slices.Clone(s.Faults)
		change(&less)
		all = append(all, less)
	}
	if s.Servers > 1 {
		with(func(less *script) {
			less.Servers = 1
			for i := range less.Acts {
				less.Acts[i].Server = 0
			}
		})
	}
	runs := 0
	for _, a := range s.Acts {
		if a.Do == "run" {
			runs++
		}
	}
	for i, a := range s.Acts {
		if a.Do != "run" || runs > 1 {
			with(func(less *script) { less.drop(i) })
		}
	}
	for i := range s.Faults {
		with(func(less *script) { less.Faults = slices.Delete(less.Faults, i, i+1) })
	}
	if s.Workers > 1 {
		with(func(less *script) { less.Workers-- })
	}
	for _, p := range s.Pipeline.smaller() {
		with(func(less *script) { less.Pipeline = p })
	}
	for i, a := range s.Acts {
		for _, plain := range []act{{a.At, a.Do, a.Server, a.Number, a.Edition, false, a.SkipFailed}, {a.At, a.Do, a.Server, a.Number, a.Edition, a.FailFast, false},
			{a.At, a.Do, a.Server, a.Number, min(a.Edition, 1), a.FailFast, a.SkipFailed}} {
			if plain != a {
				with(func(less *script) { less.Acts[i] = plain })
			}
		}
	}
	return all
}

// drop takes an act out; of a run, also what is done to it.
func (s *script) drop(i int) {
	if s.Acts[i].Do == "run" {
		number := 0
		for _, a := range s.Acts[:i] {
			if a.Do == "run" {
				number++
			}
		}
		for j := range s.Acts {
			switch a := &s.Acts[j]; {
			case a.Do != "cancel":
			case a.Number == number:
				a.Number = -1 // nobody's
			case a.Number > number:
				a.Number--
			}
		}
	}
	s.Acts = slices.Delete(s.Acts, i, i+1)
	s.Acts = slices.DeleteFunc(s.Acts, func(a act) bool { return a.Number < 0 })
}
