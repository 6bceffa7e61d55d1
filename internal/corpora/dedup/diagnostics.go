package dedup

import (
	"errors"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// Diagnostics are the numbers of section "Qualitative Analysis of NQ320K": how a title-like operator joins or splits
// pages, and how page identity changes supervision.
type Diagnostics struct {
	Operator  string `json:"operator"`  // name of the title-like key
	Reference string `json:"reference"` // name of the page key

	FragmentedPages int                   `json:"fragmented_pages"` // the paper's 550
	CollidingKeys   int                   `json:"colliding_keys"`
	CollidingPages  int                   `json:"colliding_pages"` // the paper's 93 PageIDs
	Affected        map[nq.Split]Affected `json:"affected"`        // the paper's 1.62 and 2.54 %

	Coverage          Coverage `json:"coverage"`           // of Operator: the paper's 75.3 %
	ReferenceCoverage Coverage `json:"reference_coverage"` // the paper's 76.4 %
	AdditionalQueries int      `json:"additional_queries"` // train queries that Reference adds to dev targets: the paper's 1,054

	Fragments  []Fragment  `json:"fragments"`  // the first few, see Titles
	Collisions []Collision `json:"collisions"` // the first few
}

// Diagnose compares a title-like grouping with the grouping by page of the same pass, with at most limit examples of a kind.
func Diagnose(title, page *Grouping, limit int) (Diagnostics, error) {
	if title.Records != page.Records {
		return Diagnostics{}, errors.New("the groupings to compare come from different passes")
	}
	t, err := DiagnoseTitles(title)
	if err != nil {
		return Diagnostics{}, err
	}
	d := Diagnostics{Operator: title.Key.Name, Reference: page.Key.Name, FragmentedPages: len(t.Fragmented),
		CollidingKeys: len(t.Colliding), CollidingPages: t.CollidingPages(), Affected: t.Affected(),
		Coverage: title.Coverage(), ReferenceCoverage: page.Coverage(),
		Fragments: t.Fragmented[:min(limit, len(t.Fragmented))], Collisions: t.Colliding[:min(limit, len(t.Colliding))]}
	d.AdditionalQueries = d.ReferenceCoverage.TrainQueries - d.Coverage.TrainQueries
	return d, nil
}
