package metrics

import (
	"slices"
	"strconv"
	"strings"
)

// Metric is a measure with its depth and options, such as MRR@10 or AP(rel=2)@100.
type Metric struct {
	family *family
	k      int     // 0: all ranks
	rel    int     // least grade that counts as relevant; 0 is 1
	exp    bool    // nDCG's gain is 2^grade - 1 instead of the grade
	stay   float64 // RBP's persistence; 0 is 0.8
	recall float64 // IPrec's, for which k is 0
	judged bool    // documents that nobody judged are left out
}

// cut says whether a family is named with a depth, or with a recall in place of one.
type cut int

const (
	never cut = iota
	may
	must
	atRecall
)

// family is a measure without its options.
type family struct {
	name  string
	cut   cut
	takes []string // options: rel=N, dcg='exp-log2', p=0.8, judged_only=True
	lower bool     // is better
	most  int      // the highest grade that it has a meaning for; 0: any
	also  []string
	score func(v *view, m Metric) float64
}

var relJudged = []string{"rel", "judged_only"}

// families are the measures by name. also are ir_measures' names of the same.
var families = []*family{
	// share of queries with a relevant document among the first k
	{name: "Hits", cut: must, takes: relJudged, also: []string{"Success"}, score: hits},
	// mean of 1/rank of the first relevant document, among the first k
	{name: "MRR", cut: may, takes: relJudged, also: []string{"RR"}, score: reciprocalRank},
	// normalized discounted cumulative gain of the first k: gain is the grade, as in trec_eval, or 2^grade - 1
	{name: "nDCG", cut: may, takes: []string{"dcg", "judged_only"}, also: []string{"NDCG"}, score: ndcg},
	// mean of the precision at the ranks of relevant documents, among the first k
	{name: "AP", cut: may, takes: relJudged, also: []string{"MAP"}, score: averagePrecision},
	// share of the first k ranks that have a relevant document
	{name: "P", cut: must, takes: relJudged, also: []string{"Precision"}, score: precision},
	// mean share of the relevant documents among the first k
	{name: "Recall", cut: must, takes: relJudged, also: []string{"R"}, score: recall},
	// precision at as many ranks as there are relevant documents
	{name: "Rprec", cut: never, takes: relJudged, also: []string{"RPrec"}, score: rPrecision},
	// highest precision at any rank from which on that share of the relevant documents is found
	{name: "IPrec", cut: atRecall, takes: relJudged, score: interpolatedPrecision},
	// expected share of relevant documents that somebody sees who goes on from each rank with probability p (Moffat and Zobel, TOIS 2008)
	{name: "RBP", cut: may, takes: []string{"rel", "p"}, score: rankBiased},
	// expected reciprocal rank at which somebody stops who is content with a document of grade g with probability (2^g - 1)/16
	// (Chapelle et al., CIKM 2009; gdeval's grades of 0 to 4)
	{name: "ERR", cut: may, most: 4, score: expectedReciprocalRank},
	// how seldom documents judged not relevant stand above relevant ones; looks at judged documents only
	{name: "Bpref", cut: never, takes: []string{"rel"}, also: []string{"BPref"}, score: bpref},
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
	ends := map[cut][]string{never: {""}, may: {"", "@k"}, must: {"@k"}, atRecall: {"@recall"}}
	var list []string
	for _, f := range families {
		for _, end := range ends[f.cut] {
			list = append(list, f.name+end)
		}
	}
	return strings.Join(list, ", ")
}

// String is the name that Parse reads, in one form of several.
func (m Metric) String() string {
	name := m.family.name
	if options, _ := m.options(); len(options) > 0 {
		name += "(" + strings.Join(options, ",") + ")"
	}
	if at := m.at(); at != "" {
		name += "@" + at
	}
	return name
}

// ID is the name as a field of reports has it: mrr_10, ap_rel2_100, ndcg_exp_10, rbp_p0_95, iprec_0_1.
func (m Metric) ID() string {
	_, parts := m.options()
	if at := m.at(); at != "" {
		parts = append(parts, at)
	}
	id := strings.Join(append([]string{strings.ToLower(m.family.name)}, parts...), "_")
	return strings.ReplaceAll(id, ".", "_")
}

// options are the options that differ from the defaults, as names and as IDs have them.
func (m Metric) options() (inName, inID []string) {
	for _, o := range []struct {
		is           bool
		inName, inID string
	}{
		{m.exp, "dcg='exp-log2'", "exp"},
		{m.stay > 0, "p=" + short(m.stay), "p" + short(m.stay)},
		{m.rel > 1, "rel=" + strconv.Itoa(m.rel), "rel" + strconv.Itoa(m.rel)},
		{m.judged, "judged_only=True", "judged"},
	} {
		if o.is {
			inName, inID = append(inName, o.inName), append(inID, o.inID)
		}
	}
	return inName, inID
}

// at is what stands after @: a depth, a recall, or nothing.
func (m Metric) at() string {
	switch {
	case m.family.cut == atRecall:
		return short(m.recall)
	case m.k > 0:
		return strconv.Itoa(m.k)
	}
	return ""
}

func short(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// LowerIsBetter reports whether a good system has a low value.
func (m Metric) LowerIsBetter() bool { return m.family.lower }

// relevant is the least grade that counts.
func (m Metric) relevant() int { return max(1, m.rel) }

// Percent is a metric, which is a fraction, as reports of evaluations have it.
func Percent(fraction float64) float64 { return 100 * fraction }
