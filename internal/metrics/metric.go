package metrics

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Hits is 1 if one of the first k documents is relevant, else 0 (Success@k of
// ir-measures).
func Hits(documents, relevant []string, k int) float64 {
	if firstRelevant(documents, relevant, k) < 0 {
		return 0
	}
	return 1
}

// ReciprocalRank is 1/rank of the first relevant document among the first k, else
// 0. Its mean over queries is MRR@k.
func ReciprocalRank(documents, relevant []string, k int) float64 {
	i := firstRelevant(documents, relevant, k)
	if i < 0 {
		return 0
	}
	return 1 / float64(i+1)
}

// Recall is the share of the relevant documents that is among the first k.
func Recall(documents, relevant []string, k int) float64 {
	n := 0
	for _, d := range documents[:min(k, len(documents))] {
		if slices.Contains(relevant, d) {
			n++
		}
	}
	return float64(n) / float64(len(relevant))
}

func firstRelevant(documents, relevant []string, k int) int {
	return slices.IndexFunc(documents[:min(k, len(documents))], func(d string) bool { return slices.Contains(relevant, d) })
}

// Metric is a measure with its depth, such as MRR@10.
type Metric struct {
	family string
	k      int
}

// families are the measures by name; Invalid@k looks at the beam, not at documents.
var families = []struct {
	name  string
	doc   string
	score func(documents, relevant []string, k int) float64
}{
	{"Hits", "share of queries with a relevant document among the first k", Hits},
	{"MRR", "mean of 1/rank of the first relevant document among the first k", ReciprocalRank},
	{"Recall", "mean share of the relevant documents among the first k", Recall},
	{"Invalid", "mean share of the k hypotheses of the unfiltered beam that are no identifier", nil},
}

// Parse reads a name such as "Hits@1".
func Parse(name string) (Metric, error) {
	family, depth, _ := strings.Cut(name, "@")
	k, err := strconv.Atoi(depth)
	var known []string
	for _, f := range families {
		if f.name == family && err == nil && k > 0 && strconv.Itoa(k) == depth {
			return Metric{family, k}, nil
		}
		known = append(known, f.name+"@k")
	}
	return Metric{}, fmt.Errorf("metric %q is unknown; there are %s", name, strings.Join(known, ", "))
}

// String is the name that Parse reads.
func (m Metric) String() string { return m.family + "@" + strconv.Itoa(m.k) }

// Doc says what the metric measures.
func (m Metric) Doc() string {
	for _, f := range families {
		if f.name == m.family {
			return f.doc
		}
	}
	return ""
}

// score is the metric's value for one query. documents are those of the ranking.
func (m Metric) score(r *Ranking, documents, relevant []string) float64 {
	for _, f := range families {
		if f.name == m.family && f.score != nil {
			return f.score(documents, relevant, m.k)
		}
	}
	return r.Invalid(m.k)
}

// Percent is a metric, which is a fraction, as reports of evaluations have it.
func Percent(fraction float64) float64 { return 100 * fraction }
