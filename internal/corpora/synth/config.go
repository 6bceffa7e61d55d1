package synth

import (
	"errors"
	"fmt"
)

// Config says what to generate. Two equal values give equal bytes.
type Config struct {
	Seed int `hcl:"seed,optional" json:"seed" min:"0" help:"every byte of the corpus follows from it and the sizes"`

	Pages          int `hcl:"pages,optional" json:"pages" help:"Wikipedia pages that questions are about"`
	TrainQuestions int `hcl:"train_questions,optional" json:"train_questions" help:"records of the train split"`
	DevQuestions   int `hcl:"dev_questions,optional" json:"dev_questions" help:"records of the dev split"`
	TrainShards    int `hcl:"train_shards,optional" json:"train_shards" help:"files of the train split"`
	DevShards      int `hcl:"dev_shards,optional" json:"dev_shards" help:"files of the dev split"`

	// Whole articles are as large as in Natural Questions: 150,000 bytes of HTML on average.
	Whole bool `hcl:"whole,optional" json:"whole" help:"whole articles, of 24,000 to 200,000 bytes of HTML; else they end after their first sections"`

	StubParts            int `hcl:"stub_parts,optional" json:"stub_parts" help:"files of the dump"`
	StubMembers          int `hcl:"stub_members,optional" json:"stub_members" help:"gzip members of each, at most"`
	StubRevisionsPerPage int `hcl:"stub_revisions_per_page,optional" json:"stub_revisions_per_page" help:"revisions per page that no record has"`
	StubFillerPages      int `hcl:"stub_filler_pages,optional" json:"stub_filler_pages" help:"pages that no record has"`
}

// Default is a corpus for tests and a first run: 200 records.
func Default() Config {
	return Config{
		Seed: 1, Pages: 60, TrainQuestions: 160, DevQuestions: 40, TrainShards: 2, DevShards: 1,
		StubParts: 1, StubMembers: 3, StubRevisionsPerPage: 3, StubFillerPages: 20,
	}
}

// Bench is the corpus of the benchmarks: 2,000 records of real size and a dump of 400 MB, before compression.
func Bench() Config {
	return Config{
		Seed: 1, Pages: 1200, TrainQuestions: 1900, DevQuestions: 100, TrainShards: 4, DevShards: 1,
		Whole: true, StubParts: 1, StubMembers: 8, StubRevisionsPerPage: 44, StubFillerPages: 20_000,
	}
}

// Limits that keep names, page ids and revision ids unique.
const (
	maxPages   = 500_000
	maxRecords = 5_000_000
	maxOldIDs  = 400_000_000 // revision ids to hand out
)

// Validate reports every unusable value.
func (c Config) Validate() error {
	var errs []error
	within := func(name string, v, lo, hi int) {
		if v < lo || v > hi {
			errs = append(errs, fmt.Errorf("synth: %s is %d; it must be between %d and %d", name, v, lo, hi))
		}
	}
	within("pages", c.Pages, 1, maxPages)
	within("train_questions", c.TrainQuestions, 1, maxRecords)
	within("dev_questions", c.DevQuestions, 0, maxRecords)
	within("train_shards", c.TrainShards, 1, 1000)
	within("dev_shards", c.DevShards, 1, 1000)
	within("stub_parts", c.StubParts, 1, 1000)
	within("stub_members", c.StubMembers, 1, 1000)
	within("stub_revisions_per_page", c.StubRevisionsPerPage, 0, 20_000)
	within("stub_filler_pages", c.StubFillerPages, 0, 5_000_000)
	if len(errs) == 0 && c.lanes()*c.slots() > maxOldIDs {
		errs = append(errs, fmt.Errorf("synth: %d pages with up to %d revisions each need more than %d revision ids; lower pages, stub_filler_pages or stub_revisions_per_page",
			c.lanes(), c.slots(), maxOldIDs))
	}
	return errors.Join(errs...)
}

// lanes counts the pages with their own revision ids: for each page the article, its talk page and a redirect; then filler.
func (c Config) lanes() int { return 3*c.Pages + c.StubFillerPages }

// slots is the number of revision ids of a lane.
func (c Config) slots() int { return maxRevisions + c.StubRevisionsPerPage }
