package prose

import (
	"cmp"
	"embed"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
)

// entry is a cell with the data for comparing numbers with it.
type entry struct {
	table   *Table
	cell    *Cell
	printed Number  // as its table prints it
	value   float64 // exactly
	words   []int32 // numbers of words of the index
}

// index finds cells by what they print and by words about them.
type index struct {
	entries []entry
	names   map[string]int // by ADDRESS:CELL
	words   map[string]int32
	weight  []float64          // of each word: rare words weigh more
	with    [][]int32          // the entries of each word
	labels  map[string][]int32 // entries of a table, by its label
}

func newIndex(n *Numbers) *index {
	x := &index{names: map[string]int{}, words: map[string]int32{}, labels: map[string][]int32{}}
	for i := range n.Tables {
		t := &n.Tables[i]
		about := wordsOf(strings.TrimPrefix(strings.TrimPrefix(t.Address, "table."), "figure.") + " " + t.Label)
		for k := range t.Cells {
			x.add(t, &t.Cells[k], about)
		}
	}
	x.weight = lists.Map(x.with, func(with []int32) float64 {
		return math.Log(1 + float64(len(x.entries))/float64(len(with)))
	})
	return x
}

func (x *index) add(t *Table, c *Cell, about []string) {
	x.names[t.Address+":"+c.Name] = len(x.entries)
	e := entry{table: t, cell: c, value: math.NaN()}
	id := int32(len(x.entries))
	if n, ok := printed(c.TeX); ok {
		e.printed, e.value = n, n.Value*max(1, multiple(n.Unit))
		if v, err := strconv.ParseFloat(c.Value, 64); err == nil {
			e.value = v
		}
	}
	for _, w := range slices.Concat(countsOf(c.Name, "./|"), about, wordsOf(c.Words+" "+strings.NewReplacer(".", " ", "/", " ", "-", " ").Replace(c.Name))) {
		n, ok := x.words[w]
		if !ok {
			n = int32(len(x.with))
			x.words[w] = n
			x.with = append(x.with, nil)
		}
		if !slices.Contains(e.words, n) {
			e.words = append(e.words, n)
			x.with[n] = append(x.with[n], id)
		}
	}
	x.entries = append(x.entries, e)
	if t.Label != "" && !math.IsNaN(e.value) {
		x.labels[t.Label] = append(x.labels[t.Label], id)
	}
}

// printed parses the number that a cell prints; false for a text with more than a number.
func printed(tex string) (Number, bool) {
	text, err := shown(tex)
	if err != nil {
		return Number{}, false
	}
	text = strings.TrimSpace(text)
	if k := strings.LastIndexByte(text, '='); k >= 0 { // a prefix, such as n = 3
		text = strings.TrimSpace(text[k+1:])
	}
	n, end, ok := numberAt(text, 0)
	return n, ok && end == len(text)
}

// shown returns the text that the LaTeX of a cell shows.
func shown(tex string) (string, error) {
	r := &reader{paper: &Paper{sources: []source{{text: tex}}}, folder: embed.FS{}, read: map[string]bool{}} // a cell includes no files
	err := (&scan{reader: r, src: tex}).run(0, len(tex))
	return r.out.String(), err
}

// How a number matches a cell.
type likeness int

const (
	unlike   likeness = iota
	rounded           // with fewer digits
	integral          // without a zero fraction: 60 for 60.0
	exact             // as printed
)

// compare says whether a number is what a cell prints, or the same with fewer digits. A number typed without a sign may
// be the size of a negative one: "decreases by 6.6".
func compare(n Number, e *entry) likeness {
	if math.IsNaN(e.value) || n.Signed && n.Value != 0 && (n.Value < 0) != (e.value < 0) {
		return unlike
	}
	v, p := math.Abs(n.Value), e.printed
	if n.Std != "" && e.cell.Std == "" {
		return unlike
	}
	if n.Unit == p.Unit && n.Decimals == p.Decimals && same(v, math.Abs(p.Value), n.Decimals) {
		if n.Std != "" && n.Std != p.Std {
			return unlike
		}
		return exact
	}
	for _, unit := range units(n, e) {
		// Fewer digits than the cell prints, in the unit that is typed.
		has := p.Decimals + int(math.Round(math.Log10(unit/max(1, multiple(p.Unit)))))
		if (n.Decimals < has || n.Decimals == has && unit != 1) && same(v, values.Round(math.Abs(e.value)/unit, n.Decimals), n.Decimals) && v != 0 {
			if same(v, math.Abs(e.value)/unit, has+2) {
				return integral
			}
			return rounded
		}
	}
	return unlike
}

// units returns a number's possible units: its own, or the table's, whose header may say millions; of a percentage 0.01.
func units(n Number, e *entry) []float64 {
	out := []float64{max(1, multiple(n.Unit))}
	if n.Unit > 'K' && e.cell.Style != "signed" {
		out = append(out, 1)
	}
	if n.Percent {
		out = append(out, 0.01)
	}
	return out
}

// grid returns how many numbers have n's form: its digits before and after the point, or its significant digits.
func grid(n Number) float64 {
	digits := n.significant()
	if n.Decimals > 0 {
		integerDigits := len(strings.TrimLeft(strings.SplitN(n.digits, ".", 2)[0], "0"))
		digits = max(integerDigits, 1) + n.Decimals
		if integerDigits == 0 {
			return math.Pow(10, float64(n.Decimals))
		}
	}
	return 9 * math.Pow(10, float64(digits-1))
}

// chance returns the part of the numbers of n's form that match a cell of a set: the probability of a coincidence.
func (x *index) chance(n Number, how likeness, set []int32) float64 {
	seen := map[int64]bool{}
	shift := math.Pow(10, float64(n.Decimals))
	unit := max(1, multiple(n.Unit))
	size, zeros := math.Abs(n.Value), n.zeros()
	for _, id := range set {
		e := &x.entries[id]
		if math.IsNaN(e.value) || how == exact && (e.printed.Decimals != n.Decimals || e.printed.Unit != n.Unit) {
			continue
		}
		v := math.Abs(e.printed.Value)
		if how != exact {
			v = values.Round(math.Abs(e.value)/unit, n.Decimals)
		}
		if magnitude(v) == magnitude(size) && math.Mod(v, zeros) == 0 {
			seen[int64(math.Round(v*shift))] = true
		}
	}
	return min(1, float64(max(1, len(seen)))/grid(n))
}

// magnitude returns how many digits are before the point.
func magnitude(v float64) int {
	if v < 1 {
		return 0
	}
	return 1 + int(math.Floor(math.Log10(v)+1e-12))
}

// scores says how well the words around a number match the words about each cell.
func (x *index) scores(words []string) map[int32]float64 {
	out, seen := map[int32]float64{}, map[int32]bool{}
	for _, w := range words {
		n, ok := x.words[w]
		if !ok || seen[n] {
			continue
		}
		seen[n] = true
		for _, id := range x.with[n] {
			out[id] += x.weight[n]
		}
	}
	return out
}

// Scope says where the matching cells were searched.
type Scope string

// From the nearest to all cells.
const (
	InFloat     Scope = "its table"     // the table or figure whose label its float has
	InSentence  Scope = "its sentence"  // tables that its sentence refers to
	InParagraph Scope = "its paragraph" // tables that its paragraph refers to
	Everywhere  Scope = "all cells"
)

// limits are the allowed probabilities of a coincidence, by how near the cells are. A typed table usually has its cells.
var limits = []struct {
	scope   Scope
	limit   float64
	rounded float64
}{{InFloat, 0.1, 0.02}, {InSentence, 0.1, 0.1}, {InParagraph, 0.05, 0.05}, {Everywhere, 0.02, 0.02}}

type hit struct {
	id    int32
	how   likeness
	score float64
}

type match struct {
	scope  Scope
	chance float64
	hits   []hit // best first
}

// find searches the cells that match a number, the nearest scope first; any says whether some cell has that number.
func (x *index) find(t typed, scores map[int32]float64) (m match, any bool) {
	for _, l := range limits {
		set := x.scope(l.scope, t)
		if len(set) == 0 || l.scope != InFloat && t.year() {
			continue
		}
		hits := x.hits(t.Number, set, scores)
		if len(hits) == 0 {
			continue
		}
		any = true
		best := hits[0]
		chance := x.chance(t.Number, best.how, set)
		if best.score > 0 { // among the cells with the same score
			near := lists.Filter(set, func(id int32) bool { return scores[id] >= best.score })
			chance = min(chance, x.chance(t.Number, best.how, near))
		}
		if t.Std != "" {
			chance /= 10
		}
		limit := l.limit
		if best.how == rounded {
			limit = l.rounded
		}
		if chance <= limit {
			return match{l.scope, chance, hits}, true
		}
	}
	return match{}, any
}

func (x *index) scope(s Scope, t typed) (out []int32) {
	labels := t.label
	switch s {
	case InSentence:
		labels = t.near
	case InParagraph:
		labels = t.around
	case Everywhere:
		return lists.Map(lists.Places(len(x.entries)), func(i int) int32 { return int32(i) })
	}
	for _, l := range labels {
		out = append(out, x.labels[l]...)
	}
	return out
}

// hits returns the cells of a set that match a number, best first: by the words around it, then by how they print it.
func (x *index) hits(n Number, set []int32, scores map[int32]float64) (out []hit) {
	for _, id := range set {
		if how := compare(n, &x.entries[id]); how != unlike {
			out = append(out, hit{id, how, scores[id]})
		}
	}
	slices.SortStableFunc(out, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.how, a.how), cmp.Compare(len(x.entries[a.id].words), len(x.entries[b.id].words)), cmp.Compare(a.id, b.id))
	})
	return out
}
