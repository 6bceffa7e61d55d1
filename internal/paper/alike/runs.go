package alike

import (
	"fmt"
	"io"
	"math"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/ranking/metrics"
	"github.com/redsi/redsi/step"
)

// runs compares rankings, query by query.
type runs struct {
	*meter
	rule step.Runs
}

// ranking is the beginning of a query's.
type ranking struct {
	query string
	names []string // of documents, and texts of hypotheses that are none
}

func (r runs) first(of *trec.Ranking) ranking {
	out := ranking{of.Query, make([]string, min(r.rule.Depth, len(of.Hypotheses)))}
	for i := range out.names {
		if out.names[i] = of.Hypotheses[i].Document; out.names[i] == "" {
			out.names[i] = "!:" + of.Hypotheses[i].Text
		}
	}
	return out
}

func (r runs) compare(a, b io.Reader) error {
	var all [2][]ranking
	for i, of := range []io.Reader{a, b} {
		err := trec.Rankings(of)(func(one *trec.Ranking) error { all[i] = append(all[i], r.first(one)); return nil })
		if err != nil {
			return fmt.Errorf("the %s run: %w", [2]string{"stored", "new"}[i], err)
		}
	}
	r.rankings(all[0], all[1])
	return nil
}

// rankings compares two runs.
func (r runs) rankings(a, b []ranking) {
	sum, least, in := 0.0, 2.0, ""
	for i := range max(len(a), len(b)) {
		var p, q ranking
		if i < len(a) {
			p = a[i]
		}
		if i < len(b) {
			q = b[i]
		}
		if p.query != q.query {
			r.unlike("", p.query, q.query, "another query")
			return
		}
		both := overlap(p.names, q.names)
		sum += both
		if both < least {
			least, in = both, p.query
		}
	}
	if n := len(a); n > 0 {
		mean := sum / float64(n)
		r.number(fmt.Sprintf("part of the first %d that both have; least, %s, in query %s", r.rule.Depth, float(least), in),
			"1", float(mean), 1-mean, 1-r.rule.Overlap)
	}
}

// overlap is how great a part of two rankings both have.
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

// metric compares runs that are scored by the same judgments, too.
func (c *comparer) metric(m *meter, rule step.Runs, a, b io.Reader) error {
	var scored [2][]trec.Ranking
	var firsts [2][]ranking
	by := runs{m, rule}
	for i, r := range []io.Reader{a, b} {
		var err error
		if scored[i], err = trec.ReadRun(r); err != nil {
			return err
		}
		for k := range scored[i] {
			firsts[i] = append(firsts[i], by.first(&scored[i][k]))
		}
	}
	by.rankings(firsts[0], firsts[1])
	judged, err := c.qrels(rule.Qrels)
	if err != nil {
		return err
	}
	metric, err := metrics.Parse(rule.Metric)
	if err != nil {
		return err
	}
	var means [2]float64
	for i, list := range scored {
		report, err := metrics.Evaluate([]metrics.Metric{metric}, metrics.Raw, list, judged)
		if err != nil {
			return err
		}
		means[i] = report.Mean[0]
	}
	if by := math.Abs(means[0] - means[1]); by > 0 {
		m.number(rule.Metric, float(means[0]), float(means[1]), by, rule.Abs)
	}
	return nil
}

// qrels reads the judgments of the result that stands.
func (c *comparer) qrels(output string) (*trec.Judgments, error) {
	r, err := openBlob(c.ctx, c.blobs, c.stands[output].Digest)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	judged, err := trec.ReadQrels(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", output, err)
	}
	return judged, r.verify()
}
