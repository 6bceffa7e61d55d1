package view

import (
	"io"

	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session/belief"
	"github.com/redsi/redsi/internal/system/words"
)

// fetchShown is how many blocks that would be fetched are printed.
const fetchShown = 10

// planOthers prints what a plan found in other stores.
func planOthers(w io.Writer, v *plan.Preview, o *belief.Others) {
	if o == nil {
		return
	}
	for _, s := range o.Stores {
		switch {
		case s.Error != "":
			Printf(w, "from      %s does not answer; its results count as missing\n", s.Name)
		case s.Hits > 0:
			Printf(w, "from      %s: %s", s.Name, Count(s.Hits, "hit"))
			if n := o.Unsigned[s.Name]; n > 0 {
				Printf(w, ", %d of them not signed by a key that this project trusts", n)
			}
			Println(w)
		}
		if s.Denied > 0 {
			Printf(w, "          it denies access to %s; for a bucket that may not be listed this means that they do not exist\n", Count(s.Denied, "record"))
		}
	}
	if len(o.Fetch) > 0 {
		Printf(w, "fetch     %s in %s", Size(o.Bytes()), Count(o.Blobs, "blob"))
		groups := o.Blocks(v)
		for _, g := range words.First(groups, fetchShown, func(n int) { Printf(w, "\n          and %s more", Count(n, "block")) }) {
			if len(groups) > 1 {
				Printf(w, "\n          %12s  %s", Size(g.Bytes), g.Name)
				if g.Steps > 1 {
					Printf(w, " (%d steps)", g.Steps)
				}
			}
		}
		Println(w)
	}
	if o.Own > 0 {
		Printf(w, "unsigned  %s in the own store, accepted by shared = \"use\"\n", Count(o.Own, "hit"))
	}
	PrintPassed(w, o.Passed)
}

// PrintPassed prints which existing results are not used, and what to do about it.
func PrintPassed(w io.Writer, passed []belief.Passed) {
	for _, p := range passed {
		Printf(w, "not used  %s: %s\n", Count(p.Steps, "step"), p.Text)
		if p.Do != "" {
			Printf(w, "          -> %s\n", p.Do)
		}
	}
}
