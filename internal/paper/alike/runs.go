package alike

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/redsi/redsi/internal/corpora/qrels"
	"github.com/redsi/redsi/internal/corpora/unpack"
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

func (r runs) compare(a, b io.Reader) error {
	x, y := &rankings{in: unpack.NewLines(a), most: r.rule.Depth}, &rankings{in: unpack.NewLines(b), most: r.rule.Depth}
	return r.queries(x.next, y.next)
}

// queries compares what two sources yield; no query is the end.
func (r runs) queries(x, y func() (ranking, error)) error {
	sum, n, least, in := 0.0, 0, 2.0, ""
	for {
		p, err := x()
		if err != nil {
			return fmt.Errorf("the stored run: %w", err)
		}
		q, err := y()
		if err != nil {
			return fmt.Errorf("the new run: %w", err)
		}
		if p.query != q.query {
			r.unlike("", p.query, q.query, "another query")
			return nil
		}
		if p.query == "" {
			break
		}
		both := overlap(p.names, q.names)
		sum, n = sum+both, n+1
		if both < least {
			least, in = both, p.query
		}
	}
	if n > 0 {
		mean := sum / float64(n)
		r.number(fmt.Sprintf("part of the first %d that both have; least, %s, in query %s", r.rule.Depth, float(least), in),
			"1", float(mean), 1-mean, 1-r.rule.Overlap)
	}
	return nil
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

// rankings reads a run whose lines are grouped by query.
type rankings struct {
	in   *unpack.Lines
	most int
	held []string // the line that begins the next query
}

func (r *rankings) next() (ranking, error) {
	var out ranking
	for {
		f := r.held
		r.held = nil
		if f == nil {
			line, err := r.in.Next()
			if errors.Is(err, io.EOF) {
				return out, nil
			}
			if err != nil {
				return out, err
			}
			if f = strings.Fields(string(line)); len(f) == 0 {
				continue
			}
			if len(f) != 6 {
				return out, fmt.Errorf("line %d has %d fields; want query, Q0, document, rank, score and tag", r.in.Number(), len(f))
			}
		}
		if out.query != "" && f[0] != out.query {
			r.held = f
			return out, nil
		}
		out.query = f[0]
		if len(out.names) < r.most {
			out.names = append(out.names, nameOf(f[2]))
		}
	}
}

// nameOf drops the position from the name of a hypothesis that is not a document, or one that
// is named again.
func nameOf(s string) string {
	if marked, ok := strings.CutPrefix(s, "!"); ok {
		if at := strings.IndexAny(marked, ":="); at >= 0 {
			return "!" + marked[at:]
		}
	}
	return s
}

// metric compares runs that are scored by the same judgments, too.
func (c *comparer) metric(m *meter, rule step.Runs, a, b io.Reader) error {
	var scored [2][]metrics.Ranking
	for i, r := range []io.Reader{a, b} {
		var err error
		if scored[i], err = metrics.ReadRun(r); err != nil {
			return err
		}
	}
	source := func(list []metrics.Ranking) func() (ranking, error) {
		return func() (r ranking, err error) {
			if len(list) == 0 {
				return r, nil
			}
			r.query = list[0].Query
			for _, h := range list[0].Hypotheses[:min(rule.Depth, len(list[0].Hypotheses))] {
				if r.names = append(r.names, h.Document); h.Document == "" {
					r.names[len(r.names)-1] = "!:" + h.Text
				}
			}
			list = list[1:]
			return r, nil
		}
	}
	if err := (runs{m, rule}).queries(source(scored[0]), source(scored[1])); err != nil {
		return err
	}
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
func (c *comparer) qrels(output string) (*qrels.Judgments, error) {
	r, err := openBlob(c.ctx, c.blobs, c.stands[output].Digest)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	judged, err := qrels.Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", output, err)
	}
	return judged, r.verify()
}
