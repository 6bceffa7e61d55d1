package alike

import (
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/step"
)

type runs struct {
	*meter
	rule step.Runs
}

func (r runs) compare(a, b io.Reader) (err error) {
	var both [2][]trec.Ranking
	for i, of := range []io.Reader{a, b} {
		if both[i], err = trec.ReadRun(of); err != nil {
			return fmt.Errorf("the %s run: %w", [2]string{"stored", "new"}[i], err)
		}
	}
	sum, least, in := 0.0, 2.0, ""
	for i := range max(len(both[0]), len(both[1])) {
		var of [2]trec.Ranking
		for k := range of {
			if i < len(both[k]) {
				of[k] = both[k][i]
			}
		}
		if of[0].Query != of[1].Query {
			r.unlike("", of[0].Query, of[1].Query, "another query")
			return nil
		}
		part := overlap(r.names(of[0]), r.names(of[1]))
		sum += part
		if part < least {
			least, in = part, of[0].Query
		}
	}
	if n := len(both[0]); n > 0 {
		mean := sum / float64(n)
		r.number(fmt.Sprintf("part of the first %d that both have; least, %s, in query %s", r.rule.Depth, float(least), in),
			"1", float(mean), 1-mean, 1-r.rule.Overlap)
	}
	return nil
}

// names returns the first documents of a ranking, and the texts of hypotheses that are no document.
func (r runs) names(of trec.Ranking) []string {
	names := make([]string, min(r.rule.Depth, len(of.Hypotheses)))
	for i := range names {
		if names[i] = of.Hypotheses[i].Document; names[i] == "" {
			names[i] = "!:" + of.Hypotheses[i].Text
		}
	}
	return names
}

func overlap(a, b []string) float64 {
	most := max(len(a), len(b))
	if most == 0 {
		return 1
	}
	count := map[string]int{}
	for _, s := range a {
		count[s]++
	}
	both := 0
	for _, s := range b {
		if count[s] > 0 {
			count[s]--
			both++
		}
	}
	return float64(both) / float64(most)
}
