package expect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/internal/system/words"
)

// Summary counts expectations of cells, and claims, each as one.
type Summary struct {
	Scales        []string `json:"scales,omitempty"` // that the tables and figures declare
	Apart         string   `json:"apart,omitempty"`  // what keeps this from being a reproduction, in a sentence
	Judged        int      `json:"judged"`           // compared
	Hold          int      `json:"hold"`
	Near          int      `json:"near"`
	Fail          int      `json:"fail"`     // of severity error
	Warnings      int      `json:"warnings"` // do not hold, and are of another severity
	NotRun        int      `json:"not_run"`
	NotHere       int      `json:"not_in_these_files"`
	NotComparable int      `json:"not_comparable"` // at this scale
	Shown         int      `json:"shown"`          // shown and not compared

	others   []string // scales that are not the paper's
	judgedAt bool     // expectations at one of them, too
}

// Ok reports whether nothing fails and, if strict, everything has run.
func (s Summary) Ok(strict bool) bool { return s.Fail == 0 && (!strict || s.NotRun == 0) }

// Sentence says how many expectations hold, and what became of the others.
func (s Summary) Sentence() string {
	at, apart := "", "this scale"
	switch of := strings.Join(s.Scales, ", "); {
	case len(s.others) > 0 && len(s.others) < len(s.Scales) && !s.judgedAt:
		at, apart = " at the paper's scale", "scale "+strings.Join(s.others, ", ")
	case of != "":
		at = " at scale " + of
	}
	said := []string{fmt.Sprintf("%d of %d %s%s", s.Hold, s.Judged, words.Of(s.Judged, "expectation holds", "expectations hold"), at)}
	return strings.Join(append(said, words.Counts([]words.Number{{N: s.Near, Of: "near"}, {N: s.Fail, Of: "fail"}, {N: s.Warnings, Of: "warned of"}, {N: s.NotRun, Of: "not run"}, {N: s.NotHere, Of: render.AbsentText},
		{N: s.NotComparable, Of: "not comparable at " + apart}, {N: s.Shown, Of: "shown only"}}...)...), ", ")
}

// Any reports whether anything is expected.
func (s Summary) Any() bool { return s.Judged+s.NotRun+s.NotHere+s.NotComparable+s.Shown > 0 }

func (s *Summary) add(v render.Verdict, fails bool) {
	switch v {
	case render.NotRun:
		s.NotRun++
	case render.NotHere:
		s.NotHere++
	case render.NotComparable:
		s.NotComparable++
	case render.Shown:
		s.Shown++
	case render.Matches, render.Holds:
		s.Judged++
		s.Hold++
	case render.IsNear:
		s.Judged++
		s.Near++
	default:
		s.Judged++
		if fails {
			s.Fail++
		} else {
			s.Warnings++
		}
	}
}

// Summary counts all verdicts.
func (j *Judged) Summary() (s Summary) {
	scales, others := map[string]bool{}, map[string]bool{}
	for _, it := range j.Items {
		if it.Other {
			others[it.Scale] = true
		}
		if it.Scale != "" {
			scales[it.Scale] = true
		}
		for _, c := range it.Checks {
			s.add(c.Verdict, c.Fails())
			s.judgedAt = s.judgedAt || it.Other && c.Verdict != render.NotComparable
		}
	}
	for _, c := range j.Claims {
		s.add(c.Verdict, c.Fails())
		s.judgedAt = s.judgedAt || others[c.Scale] && c.Verdict != render.NotComparable
	}
	s.Scales = slices.Sorted(maps.Keys(scales))
	s.others = slices.Sorted(maps.Keys(others))
	if len(s.others) > 0 || j.Part != "" {
		s.Apart = "not a reproduction of the paper"
	}
	if j.Part != "" {
		s.Apart = j.Part + "; " + s.Apart
	}
	if len(s.others) > 0 {
		s.Apart = "scale " + strings.Join(s.others, ", ") + ": " + s.Apart
	}
	return s
}

// Tally counts the verdicts of cells and of claims.
func (j *Judged) Tally() render.Tally {
	t := render.Tally{Cells: map[render.Verdict]int{}, Claims: map[render.Verdict]int{}}
	for _, it := range j.Items {
		for _, c := range it.Checks {
			t.Cells[c.Verdict]++
		}
	}
	for _, c := range j.Claims {
		t.Claims[c.Verdict]++
	}
	return t
}

// Only leaves out claims about tables and figures that the plan, such as one with a target, does not have.
func (j *Judged) Only() *Judged {
	in := maps.Clone(j.left)
	for _, it := range j.Items {
		in[it.Address] = true
	}
	out := *j
	out.Claims = slices.DeleteFunc(slices.Clone(j.Claims), func(c Claim) bool {
		return slices.ContainsFunc(c.Items, func(address string) bool { return !in[address] })
	})
	return &out
}
