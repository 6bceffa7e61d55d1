package collect

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/redsi/redsi/internal/corpora/nq"
)

// Settle gives every query a split once all are read: the named split, else one drawn by seed, else test. Queries with the
// same words are drawn together, whatever their order.
func (q *Questions) Settle() {
	q.draw()
	words := map[string]bool{} // of train queries
	for _, have := range q.list {
		if have.split == "" && have.relevant {
			have.split = nq.Test
			q.Report.Assumed++
		}
	}
	q.limit()
	for _, have := range q.list {
		if have.asked() && have.split == nq.Train && have.relevant {
			words[wordsOf(have.text)] = true
		}
	}
	for _, have := range q.list {
		if have.left {
			continue
		}
		if have.split == "" {
			q.Report.Unjudged++
			continue
		}
		r := q.Report.Of(have.split)
		r.Queries++
		if !have.relevant {
			r.Unjudged++
		} else if have.split != nq.Train && words[wordsOf(have.text)] {
			r.InTrain++
		}
	}
}

type group struct {
	hash    uint64
	words   string
	queries []int
}

func (q *Questions) draw() {
	if len(q.options.Draw) == 0 {
		return
	}
	byWords := map[string]*group{}
	total := 0
	for i, have := range q.list {
		if !have.relevant || have.split != q.options.DrawFrom {
			continue
		}
		total++
		words := wordsOf(have.text)
		g := byWords[words]
		if g == nil {
			g = &group{hash: hashOf(words, q.options.Seed), words: words}
			byWords[words] = g
		}
		g.queries = append(g.queries, i)
	}
	groups := slices.SortedFunc(maps.Values(byWords), func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), strings.Compare(a.words, b.words))
	})
	for _, split := range []nq.Split{nq.Test, nq.Dev, nq.Train} {
		want := total
		if split != nq.Train {
			want = int(math.Round(q.options.Draw[split] * float64(total)))
		}
		for n := 0; n < want && len(groups) > 0; groups = groups[1:] {
			for _, i := range groups[0].queries {
				q.list[i].split = split
				n++
			}
		}
	}
	q.Report.Drawn = int64(total)
}

// limit draws the queries of splits with more than Options.Limit.
func (q *Questions) limit() {
	for _, split := range Splits() {
		n, limited := q.options.Limit[split]
		if !limited {
			continue
		}
		drawn := sample{n: n}
		of := func(have *question) bool { return have.split == split && have.relevant }
		for _, have := range q.list {
			if of(have) {
				drawn.offer(hashOf(have.name, q.options.Seed))
			}
		}
		for _, have := range q.list {
			if of(have) && !drawn.has(hashOf(have.name, q.options.Seed)) {
				have.left = true
				q.Report.Of(split).NotDrawn++
			}
		}
	}
}

// wordsOf returns a text without case, punctuation, white space and variants of characters; unchanged if no word remains.
func wordsOf(text string) string {
	words := strings.FieldsFunc(strings.ToLower(norm.NFKC.String(text)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
	if len(words) == 0 {
		return text
	}
	return strings.Join(words, " ")
}
