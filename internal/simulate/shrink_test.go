package simulate

import (
	"fmt"
	"slices"
	"testing"
)

// shrinkPlays bounds the plays by which a script is made smaller.
const shrinkPlays = 300

// shrink makes a script that fails by a rule smaller, as long as it fails by that rule.
func shrink(t *testing.T, name string, s script, rule string) (script, int) {
	plays := 0
	for smaller := true; smaller; {
		smaller = false
		for _, less := range s.smaller() {
			if plays++; plays > shrinkPlays {
				return s, plays
			}
			fmt.Println(playing + name)
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
	for i, a := range s.Acts {
		wanted := slices.ContainsFunc(s.Acts, func(b act) bool { // else a process is gone for good
			return a.Do == "start" && (b.Do == "kill" || b.Do == "stop") && b.Server == a.Server && b.Number == a.Number
		})
		if !wanted && (a.Do != "run" || s.runs(len(s.Acts)) > 1) {
			with(func(less *script) { less.drop(i) })
		}
	}
	for i := range s.Faults {
		with(func(less *script) { less.Faults = slices.Delete(less.Faults, i, i+1) })
	}
	if s.Uneven {
		with(func(less *script) { less.Uneven = false })
	}
	if s.Workers > 1 {
		with(func(less *script) { less.Workers-- })
	}
	for _, p := range s.Pipeline.smaller() {
		with(func(less *script) { less.Pipeline = p })
	}
	for i, a := range s.Acts {
		for _, plainer := range []func(*act){func(a *act) { a.FailFast = false }, func(a *act) { a.SkipFailed = false }, func(a *act) { a.Edition = min(a.Edition, 1) }} {
			if plainer(&a); a != s.Acts[i] {
				with(func(less *script) { less.Acts[i] = a })
				a = s.Acts[i]
			}
		}
	}
	return all
}

// drop takes an act out; of a run, also what is done to it.
func (s *script) drop(i int) {
	number, run := s.runs(i), s.Acts[i].Do == "run"
	s.Acts = slices.Delete(s.Acts, i, i+1)
	if !run {
		return
	}
	s.Acts = slices.DeleteFunc(s.Acts, func(a act) bool { return a.Do == "cancel" && a.Number == number })
	for j := range s.Acts {
		if a := &s.Acts[j]; a.Do == "cancel" && a.Number > number {
			a.Number--
		}
	}
}

// runs counts them among the acts before one.
func (s script) runs(before int) (n int) {
	for _, a := range s.Acts[:before] {
		if a.Do == "run" {
			n++
		}
	}
	return n
}
