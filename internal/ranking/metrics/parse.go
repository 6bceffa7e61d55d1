package metrics

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Parse reads a name such as "Hits@1": ours, ir_measures' ("AP(rel=2)@100", "RR@10",
// "R@100", "nDCG(dcg='exp-log2')@10", "RBP(p=0.95)", "IPrec@0.1") or trec_eval's
// ("ndcg_cut_10", "map", "recip_rank", "P_10", "success_1", "iprec_at_recall_0.10").
func Parse(name string) (Metric, error) {
	if m, ok := trecEvalName(name); ok {
		return m, nil
	}
	before, depth, cutOff := strings.Cut(name, "@")
	of, options, err := splitOptions(before)
	if err != nil {
		return Metric{}, fmt.Errorf("metric %q: %w", name, err)
	}
	f := familyOf(of)
	m := Metric{family: f}
	ok := f != nil
	switch {
	case ok && f.cut == atRecall:
		m.recall, err = strconv.ParseFloat(depth, 64)
		ok = err == nil && m.recall >= 0 && m.recall <= 1
	case cutOff:
		m.k, err = strconv.Atoi(depth)
		ok = ok && err == nil && m.k > 0 && strconv.Itoa(m.k) == depth
	}
	if !ok || cutOff && f.cut == never || !cutOff && f.cut == must {
		return Metric{}, fmt.Errorf("metric %.80q is unknown; there are %s", name, formNames())
	}
	for _, o := range options {
		if err := m.option(f, o); err != nil {
			return Metric{}, fmt.Errorf("metric %q: %w", name, err)
		}
	}
	return m, nil
}

// ParseAll reads names of several measures.
func ParseAll(names ...string) (list []Metric, err error) {
	for _, name := range names {
		m, err := Parse(name)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// splitOptions parts "AP(rel=2)" into the name and what stands in parentheses.
func splitOptions(s string) (name string, options []string, err error) {
	name, rest, ok := strings.Cut(s, "(")
	if !ok {
		return s, nil, nil
	}
	inner, ok := strings.CutSuffix(rest, ")")
	if !ok || strings.TrimSpace(inner) == "" {
		return "", nil, fmt.Errorf("options stand in parentheses before @, as in AP(rel=2)@100")
	}
	return name, strings.Split(inner, ","), nil
}

// option sets one, as ir_measures writes it.
func (m *Metric) option(f *family, text string) error {
	name, value, _ := strings.Cut(strings.TrimSpace(text), "=")
	value = strings.Trim(value, `'"`)
	if !slices.Contains(f.takes, name) {
		return fmt.Errorf("%s takes %s, not %.40q", f.name, cmp.Or(strings.Join(f.takes, " and "), "no option"), name)
	}
	switch name {
	case "rel":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("rel is the least grade that is relevant, from 1 on, not %.40q", value)
		}
		if m.rel = n; n == 1 {
			m.rel = 0
		}
	case "dcg":
		if value != "log2" && value != "exp-log2" {
			return fmt.Errorf("dcg is 'log2' or 'exp-log2', not %.40q", value)
		}
		m.exp = value == "exp-log2"
	case "p":
		p, err := strconv.ParseFloat(value, 64)
		if err != nil || !(p > 0 && p < 1) {
			return fmt.Errorf("p is the probability to go on to the next rank, between 0 and 1, not %.40q", value)
		}
		if m.stay = p; p == usualStay {
			m.stay = 0
		}
	case "judged_only":
		if value != "True" && value != "False" {
			return fmt.Errorf("judged_only is True or False, not %.40q", value)
		}
		m.judged = value == "True"
	}
	return nil
}

// trecEval are the families by trec_eval's names, which are cut by a number at the end.
var trecEval = map[string]string{
	"success": "Hits", "recip_rank": "MRR", "ndcg": "nDCG", "ndcg_cut": "nDCG", "map": "AP", "map_cut": "AP",
	"P": "P", "recall": "Recall", "Rprec": "Rprec", "bpref": "Bpref",
}

// usualStay is RBP's persistence unless p says another one, as ir_measures has it.
const usualStay = 0.8

var numbered = regexp.MustCompile(`^(.*)_([1-9][0-9]{0,8})$`)

func trecEvalName(name string) (Metric, bool) {
	if of, ok := trecEval[name]; ok {
		f := familyOf(of)
		return Metric{family: f}, f.cut != must && !strings.HasSuffix(name, "_cut")
	}
	if recall, ok := strings.CutPrefix(name, "iprec_at_recall_"); ok {
		m, err := Parse("IPrec@" + recall)
		return m, err == nil
	}
	at := numbered.FindStringSubmatch(name)
	if at == nil || at[1] == "recip_rank" || at[1] == "ndcg" || at[1] == "map" {
		return Metric{}, false
	}
	f := familyOf(trecEval[at[1]])
	k, err := strconv.Atoi(at[2])
	return Metric{family: f, k: k}, f != nil && err == nil && f.cut != never
}
