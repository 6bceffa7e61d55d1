package overlap

import (
	"maps"
	"slices"

	"github.com/redsi/redsi/internal/corpora/dedup"
)

// DocumentPair is a document and the nearest document before it.
type DocumentPair struct {
	Doc, Other int32
	Class      Class
	Similarity float64
}

// Standing names a document in which a query stands word for word.
type Standing struct {
	Query      int   // place in Queries.List
	Doc        int32 // the first relevant document, else the first
	SameTarget bool  // Doc is relevant
	Documents  int   // number of such documents
}

// Documents compares documents with each other and with queries, in two reads: Add all, then Load the Wanted documents.
type Documents struct {
	Count int
	Left  int64 // pairs that Pairs left out

	sketch   *sketch
	words    int // fewest words of a query to look for
	queries  *Queries
	asked    map[uint64][]int32 // normal forms of queries, by their first words
	sequence map[int32][]uint64 // the words of such a form
	members  func(form int32) []int32
	standing []Standing // by Queries.List; Documents is 0 for a query in no document

	docs        []int32 // by place
	raw, normal map[[16]byte]int32
	pairs       []DocumentPair
	keys        []uint32 // of all documents, by place
	lone        []bool   // by place: not compared for near duplicates
	sets        map[int32][]uint64
	buf, set    []uint64
}

// NewDocuments also compares documents with queries of at least so many words; 0: with no queries.
func NewDocuments(near Near, queries *Queries, words int) *Documents {
	d := &Documents{sketch: newSketch(near), words: words, queries: queries, members: queries.members(), standing: make([]Standing, len(queries.List)),
		asked: map[uint64][]int32{}, sequence: map[int32][]uint64{}, raw: map[[16]byte]int32{}, normal: map[[16]byte]int32{}, sets: map[int32][]uint64{}}
	for f, text := range queries.normals() {
		if ws := appendWords(nil, text); words > 0 && len(ws) >= words {
			h := sequence(ws[:words])
			d.asked[h] = append(d.asked[h], int32(f))
			d.sequence[int32(f)] = ws
		}
	}
	return d
}

// Sought is the number of queries that are long enough to look for.
func (d *Documents) Sought() (n int) {
	for f := range d.sequence {
		n += len(d.members(f))
	}
	return n
}

// Add takes a document; numbers must ascend.
func (d *Documents) Add(doc int32, text string) {
	d.Count++
	d.docs = append(d.docs, doc)
	normal := Normal(text)
	d.buf = appendWords(d.buf[:0], normal)
	d.look(doc, d.buf)
	raw, norm := dedup.TextDigest(text, 0, false), dedup.TextDigest(normal, 0, false)
	switch other, ok := d.raw[raw]; {
	case ok:
		d.pairs = append(d.pairs, DocumentPair{Doc: doc, Other: other, Class: Exact, Similarity: 1})
	default:
		d.raw[raw] = doc
		if other, ok = d.normal[norm]; ok && normal != "" {
			d.pairs = append(d.pairs, DocumentPair{Doc: doc, Other: other, Class: Normalised, Similarity: 1})
		}
	}
	_, before := d.normal[norm]
	if !before {
		d.normal[norm] = doc
	}
	d.set = d.sketch.appendSet(d.set[:0], d.buf)
	d.keys = d.sketch.appendBands(d.keys, d.set)
	d.lone = append(d.lone, before || len(d.set) == 0)
}

func (d *Documents) look(doc int32, words []uint64) {
	var found []int32
	for i := 0; len(d.asked) > 0 && i+d.words <= len(words); i++ {
		for _, f := range d.asked[sequence(words[i:i+d.words])] {
			ws := d.sequence[f]
			if i+len(ws) <= len(words) && slices.Equal(ws, words[i:i+len(ws)]) && !slices.Contains(found, f) {
				found = append(found, f)
			}
		}
	}
	for _, f := range found {
		for _, q := range d.members(f) {
			st := &d.standing[q]
			st.Documents++
			relevant := slices.Contains(d.queries.List[q].Documents, doc)
			if st.Documents == 1 || relevant && !st.SameTarget {
				st.Query, st.Doc, st.SameTarget = int(q), doc, relevant
			}
		}
	}
}

// Wanted returns the documents to Load: the near duplicates that sketches propose.
func (d *Documents) Wanted() map[int32]bool {
	wanted := map[int32]bool{}
	d.sketch.each(d.keys, func(i int32) bool { return d.lone[i] }, func(_ int, group []uint64) {
		for _, m := range group {
			wanted[d.docs[item(m)]] = true
		}
	})
	return wanted
}

// Load takes a wanted document for the second time.
func (d *Documents) Load(doc int32, text string) {
	d.buf = appendWords(d.buf[:0], Normal(text))
	d.sets[doc] = d.sketch.appendSet(nil, d.buf)
}

// Pairs returns the documents that are like an earlier document, by number.
func (d *Documents) Pairs() []DocumentPair {
	best := map[int32]DocumentPair{}
	d.Left = d.sketch.similar(d.keys, func(i int32) bool { return d.lone[i] }, func(i int32) []uint64 { return d.sets[d.docs[i]] }, func(i, j int32, similarity float64) {
		p, there := best[j]
		if other := d.docs[i]; !there || similarity > p.Similarity || similarity == p.Similarity && other < p.Other {
			best[j] = DocumentPair{Doc: d.docs[j], Other: other, Class: NearBy, Similarity: similarity}
		}
	})
	all := slices.AppendSeq(slices.Clone(d.pairs), maps.Values(best))
	slices.SortFunc(all, func(a, b DocumentPair) int { return int(a.Doc) - int(b.Doc) })
	return all
}

// Standing returns the queries that stand in documents, in the order of Queries.List.
func (d *Documents) Standing() []Standing {
	return slices.DeleteFunc(slices.Clone(d.standing), func(s Standing) bool { return s.Documents == 0 })
}
