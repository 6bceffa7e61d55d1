package metrics

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Metric is a measure with its depth and options, such as MRR@10 or AP(rel=2)@100.
type Metric struct {
	family *family
	k      int  // 0: the whole ranking
	rel    int  // least grade that counts as relevant; 0 is 1
	exp    bool // nDCG's gain is 2^grade - 1 instead of the grade
}

// cut says whether a family is named with a depth.
type cut int

const (
	never cut = iota
	may
	must
)

// family is a measure without its options.
type family struct {
	name  string
	cut   cut
	rel   bool // takes rel=N
	gain  bool // takes dcg='exp-log2'
	lower bool // is better
	also  []string
	score func(v *view, m Metric) float64
}

// families are the measures by name. also are ir_measures' names of the same.
var families = []*family{
	// share of queries with a relevant document among the first k
	{name: "Hits", cut: must, rel: true, also: []string{"Success"}, score: hits},
	// mean of 1/rank of the first relevant document, among the first k
	{name: "MRR", cut: may, rel: true, also: []string{"RR"}, score: reciprocalRank},
	// normalized discounted cumulative gain of the first k: gain is the grade, as in trec_eval, or 2^grade - 1
	{name: "nDCG", cut: may, gain: true, also: []string{"NDCG"}, score: ndcg},
	// mean of the precision at the ranks of relevant documents, among the first k
	{name: "AP", cut: may, rel: true, also: []string{"MAP"}, score: averagePrecision},
	// share of the first k ranks that have a relevant document
	{name: "P", cut: must, rel: true, also: []string{"Precision"}, score: precision},
	// mean share of the relevant documents among the first k
	{name: "Recall", cut: must, rel: true, also: []string{"R"}, score: recall},
	// precision at as many ranks as there are relevant documents
	{name: "Rprec", cut: never, rel: true, also: []string{"RPrec"}, score: rPrecision},
	// how seldom documents judged not relevant stand above relevant ones; looks at judged documents only
	{name: "Bpref", cut: never, rel: true, also: []string{"BPref"}, score: bpref},
	// share of the first k documents that anybody judged
	{name: "Judged", cut: may, score: judgedShare},
	// mean share of the k hypotheses of the unfiltered beam that are no identifier
	{name: "Invalid", cut: must, lower: true, score: invalid},
}

// familyOf finds a family by its name or another's; nil if there is none.
func familyOf(name string) *family {
	at := slices.IndexFunc(families, func(f *family) bool { return f.name == name || slices.Contains(f.also, name) })
	if at < 0 {
		return nil
	}
	return families[at]
}

// formNames lists the forms of names, for errors.
func formNames() string {
	var list []string
	for _, f := range families {
		if f.cut != must {
			list = append(list, f.name)
		}
		if f.cut != never {
			list = append(list, f.name+"@k")
		}
	}
	return strings.Join(list, ", ")
}

// String is the name that Parse reads, in one form of several.
func (m Metric) String() string {
	return m.named(m.family.name, "(dcg='exp-log2')", "(rel=%d)", "@")
}

// ID is the name as a field of reports has it: mrr_10, ap_rel2_100, ndcg_exp_10.
func (m Metric) ID() string {
	return m.named(strings.ToLower(m.family.name), "_exp", "_rel%d", "_")
}

// named is a name for the family, with what says of it how gains, relevance and depth are.
func (m Metric) named(s, exp, rel, k string) string {
	switch {
	case m.exp:
		s += exp
	case m.rel > 1:
		s += fmt.Sprintf(rel, m.rel)
	}
	if m.k > 0 {
		s += k + strconv.Itoa(m.k)
	}
	return s
}

// LowerIsBetter reports whether a good system has a low value.
func (m Metric) LowerIsBetter() bool { return m.family.lower }

// depth is the number of ranks that are looked at.
func (m Metric) depth(ranked int) int { return min(cmp.Or(m.k, ranked), ranked) }

// relevant is the least grade that counts.
func (m Metric) relevant() int { return max(1, m.rel) }

// Percent is a metric, which is a fraction, as reports of evaluations have it.
func Percent(fraction float64) float64 { return 100 * fraction }
