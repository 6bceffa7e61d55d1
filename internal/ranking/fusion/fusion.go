// Package fusion joins rankings of several systems for the same queries into one: by ranks
// (reciprocal rank fusion) or by weighted sums of normalized scores.
//
// It must not know steps and stores, nor where rankings come from.
package fusion

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/internal/system/lists"
)

// Normalize is what becomes of a query's scores in one run before they are added.
type Normalize string

// The ways, as ranx has them: to 0 for the last and 1 for the first; to shares of the highest; to mean 0 and
// deviation 1; or as they are. Scores that do not differ become 0 by the first and the third.
const (
	MinMax Normalize = "min_max"
	Max    Normalize = "max"
	ZScore Normalize = "zscore"
	None   Normalize = "none"
)

// Method says what a document scores: the sum over runs of weight x 1/(K + rank), or with Normalize of weight x
// normalized score. A run that does not rank the document adds nothing.
type Method struct {
	K         int       // of reciprocal rank fusion (Cormack et al., SIGIR 2009); ranks begin with 1
	Normalize Normalize // "": by ranks
	Depth     int       // documents of a ranking, at most
}

// Fusion is runs that are being added.
type Fusion struct {
	how       Method
	numbers   map[string]uint32
	documents []string
	queries   []*query // as they first come
	of        map[string]*query
	runs      int
	seen      map[uint32]struct{}
	scores    []float64
}

// query is what runs add to the documents of one.
type query struct {
	name  string
	parts []part
	runs  int // that rank documents for it
}

// part is what one run adds to a document's score: 16 bytes.
type part struct {
	score    float64
	document uint32
}

func New(how Method) *Fusion {
	return &Fusion{how: how, numbers: map[string]uint32{}, of: map[string]*query{}, seen: map[uint32]struct{}{}}
}

// Queries is how many queries the runs have.
func (f *Fusion) Queries() int { return len(f.queries) }

// Partial is how many of them some of the runs lack.
func (f *Fusion) Partial() int {
	return lists.Count(f.queries, func(q *query) bool { return q.runs < f.runs })
}

// Add adds a run. Hypotheses that name no document, or a document that was named before, have no rank. It returns how many rankings
// the run has; memory grows with its lines, 16 bytes each.
func (f *Fusion) Add(run trec.Reader, weight float64) (rankings int, err error) {
	f.runs++
	return rankings, run(func(r *trec.Ranking) error {
		rankings++
		q := f.of[r.Query]
		if q == nil {
			q = &query{name: r.Query}
			f.queries, f.of[r.Query] = append(f.queries, q), q
		}
		q.runs++
		clear(f.seen)
		from := len(q.parts)
		f.scores = f.scores[:0]
		for _, h := range r.Hypotheses {
			if h.Document == "" {
				continue
			}
			d := f.number(h.Document)
			if _, repeated := f.seen[d]; !repeated {
				f.seen[d] = struct{}{}
				f.scores = append(f.scores, h.Score)
				q.parts = append(q.parts, part{document: d})
			}
		}
		f.how.normalize(f.scores)
		for i, s := range f.scores {
			q.parts[from+i].score = weight * s
		}
		return nil
	})
}

func (f *Fusion) number(document string) uint32 {
	n, ok := f.numbers[document]
	if !ok {
		document = strings.Clone(document)
		n = uint32(len(f.documents))
		f.documents, f.numbers[document] = append(f.documents, document), n
	}
	return n
}

// normalize makes of scores, best first, what they count.
func (m Method) normalize(scores []float64) {
	if len(scores) == 0 {
		return
	}
	base, unit := 0.0, 1.0
	switch m.Normalize {
	case "":
		for i := range scores {
			scores[i] = 1 / float64(m.K+i+1)
		}
		return
	case MinMax:
		base = slices.Min(scores)
		unit = max(slices.Max(scores)-base, least)
	case Max:
		unit = max(slices.Max(scores), least)
	case ZScore:
		for _, s := range scores {
			base += s / float64(len(scores))
		}
		square := 0.0
		for _, s := range scores {
			square += (s - base) * (s - base) / float64(len(scores))
		}
		unit = max(math.Sqrt(square), least)
	}
	for i := range scores {
		scores[i] = (scores[i] - base) / unit
	}
}

// least is the smallest unit of normalized scores, ranx's.
const least = 1e-9

// Rankings yields the fused rankings, queries as they first came; each is valid until the next. Equal scores are
// ordered by the documents' numbers, or names where those are no numbers.
func (f *Fusion) Rankings() iter.Seq[trec.Ranking] {
	return func(yield func(trec.Ranking) bool) {
		var sums []part
		for _, q := range f.queries {
			parts := q.parts
			slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.document, b.document) })
			sums = sums[:0]
			for i, p := range parts {
				if i > 0 && parts[i-1].document == p.document {
					sums[len(sums)-1].score += p.score
				} else {
					sums = append(sums, p)
				}
			}
			slices.SortFunc(sums, func(a, b part) int {
				if a.score != b.score {
					return cmp.Compare(b.score, a.score)
				}
				return byNumber(f.documents[a.document], f.documents[b.document])
			})
			best := lists.Map(sums[:min(f.how.Depth, len(sums))], func(s part) trec.Hypothesis {
				return trec.Hypothesis{Document: f.documents[s.document], Score: s.score}
			})
			if !yield(trec.Ranking{Query: q.name, Hypotheses: best}) {
				return
			}
		}
	}
}

// byNumber orders names as numbers where both are.
func byNumber(a, b string) int {
	x, xerr := strconv.Atoi(a)
	y, yerr := strconv.Atoi(b)
	if xerr == nil && yerr == nil && x != y {
		return cmp.Compare(x, y)
	}
	return strings.Compare(a, b)
}
