package bm25

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime/debug"

	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/spool"
)

// posting lists keep frequencies in a byte; greater ones are in a map.
const manyTimes = 255

// ahead is how many bytes of postings are read at once to be sorted by term.
const ahead = 1 << 15

// Builder takes documents, in the order of their numbers.
type Builder struct {
	analyzer Analyzer
	segments map[string]int32 // what the analyzer splits texts into -> term, or noTerm
	terms    map[string]int32
	df       []int32

	lengths []uint32   // of documents, in terms
	ends    []int64    // postings up to and with a document's
	taken   spool.List // postings as they came: uvarint(term << 1), or term << 1 | 1 and a byte with the frequency if that is not 1
	n       int64
	often   map[int64]uint32 // frequencies of postings, by the order of taking, that a byte has no room for

	counts  []uint32 // of this document's terms; zero between documents
	touched []int32
	posts   []byte
}

const noTerm = -1

// manySegments is how many different segments are remembered with their terms.
const manySegments = 4 << 20

// NewBuilder begins an index. scratch makes a folder for postings that are not sorted.
func NewBuilder(scratch func() (string, error), a Analyzer) *Builder {
	return &Builder{analyzer: a, taken: spool.New(scratch), segments: map[string]int32{}, terms: map[string]int32{}, often: map[int64]uint32{}}
}

// Add takes the next document, whose texts are read one after another.
func (b *Builder) Add(texts ...string) error {
	if len(b.lengths) == math.MaxInt32 {
		return fmt.Errorf("more than %d documents", math.MaxInt32)
	}
	length := uint32(0)
	for _, text := range texts {
		b.analyzer.Split(text, func(segment string) {
			if t := b.term(segment); t != noTerm {
				if b.counts[t] == 0 {
					b.touched = append(b.touched, t)
				}
				b.counts[t]++
				length++
			}
		})
	}
	for _, t := range b.touched {
		b.post(t, b.counts[t])
		b.counts[t] = 0
	}
	b.taken.Write(b.posts)
	b.touched, b.posts = b.touched[:0], b.posts[:0]
	b.lengths, b.ends = append(b.lengths, length), append(b.ends, b.n)
	return nil
}

// term is the number of a segment's term, which may be a new one.
func (b *Builder) term(segment string) int32 {
	if t, ok := b.segments[segment]; ok {
		return t
	}
	if len(b.segments) == manySegments {
		clear(b.segments)
	}
	t := int32(noTerm)
	key := string([]byte(segment)) // not a part of a long text
	if name := b.analyzer.Term(key); name != "" {
		ok := false
		if t, ok = b.terms[name]; !ok {
			t = int32(len(b.df))
			b.terms[name] = t
			b.df, b.counts = append(b.df, 0), append(b.counts, 0)
		}
	}
	b.segments[key] = t
	return t
}

func (b *Builder) post(term int32, tf uint32) {
	if tf >= manyTimes {
		b.often[b.n] = tf
		tf = manyTimes
	}
	if tf == 1 {
		b.posts = binary.AppendUvarint(b.posts, uint64(term)<<1)
	} else {
		b.posts = append(binary.AppendUvarint(b.posts, uint64(term)<<1|1), uint8(tf))
	}
	b.df[term]++
	b.n++
}

// Index answers queries. It does not change, so any number of searches may go on at once.
type Index struct {
	analyzer Analyzer
	terms    map[string]int32
	starts   []int64 // of terms' postings, and the end of the last
	docs     []int32
	tf       []uint8
	often    map[int64]uint32

	weighting weighting
	norms     []float64           // of documents
	idfs      []float64           // of terms
	best      []float64           // of terms: the greatest weight in a document
	frequent  map[int32]*frequent // of terms that isFrequent documents have

	small *smallFloats // Lucene's own arithmetic, or nil

	Statistics Statistics
}

// Statistics are of an index.
type Statistics struct {
	Documents  int     `json:"documents"`
	Empty      int     `json:"empty_documents"` // without a term
	Terms      int     `json:"terms"`           // different ones
	Tokens     int64   `json:"tokens"`          // all terms of all documents
	Postings   int64   `json:"postings"`        // pairs of a term and a document
	MeanLength float64 `json:"mean_length"`     // of documents, in terms; under LuceneLengths without empty documents
}

// Finish makes the index. The builder is of no use after that.
func (b *Builder) Finish(o Options) (*Index, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if len(b.lengths) == 0 {
		return nil, errors.New("there are no documents to search")
	}
	ix := &Index{analyzer: b.analyzer, terms: b.terms, weighting: o.weighting()}
	b.segments, b.counts = nil, nil
	debug.FreeOSMemory() // what the texts left makes room for the postings
	if err := errors.Join(b.taken.End(), b.sortPostings(ix)); err != nil {
		return nil, err
	}
	ix.Statistics = Statistics{Documents: len(b.lengths), Terms: len(b.df), Postings: b.n}
	for _, l := range b.lengths {
		ix.Statistics.Tokens += int64(l)
		if l == 0 {
			ix.Statistics.Empty++
		}
	}
	counted := len(b.lengths)
	if o.LuceneLengths {
		counted -= ix.Statistics.Empty
	}
	ix.Statistics.MeanLength = float64(ix.Statistics.Tokens) / float64(max(1, counted))
	ix.weigh(o, b.lengths, b.df, counted)
	return ix, nil
}

// sortPostings orders what was taken by term; documents ascend within a term, as they came.
func (b *Builder) sortPostings(ix *Index) error {
	ix.starts = make([]int64, len(b.df)+1)
	for t, n := range b.df {
		ix.starts[t+1] = ix.starts[t] + int64(n)
	}
	ix.docs, ix.tf, ix.often = make([]int32, b.n), make([]uint8, b.n), make(map[int64]uint32, len(b.often))
	next := append([]int64(nil), ix.starts...)
	doc, at := int32(0), int64(0)
	for from, size := int64(0), b.taken.Size(); from < size; {
		left := b.taken.Read(from, int(min(ahead, size-from)), ahead)
		if err := b.taken.Err(); err != nil {
			return err
		}
		isLast := from+int64(len(left)) == size
		for len(left) > binary.MaxVarintLen64 || isLast && len(left) > 0 {
			t, n := binary.Uvarint(left)
			tf := uint8(1)
			if t&1 != 0 {
				tf = left[n]
				n++
			}
			left, from = left[n:], from+int64(n)
			for at >= b.ends[doc] {
				doc++
			}
			to := next[t>>1]
			next[t>>1]++
			ix.docs[to], ix.tf[to] = doc, tf
			if tf == manyTimes {
				ix.often[to] = b.often[at]
			}
			at++
		}
	}
	return nil
}

// Err is the error of the disk, where Finish returned one.
func (b *Builder) Err() error { return b.taken.Err() }

// weigh computes what a search needs of every document and term.
func (ix *Index) weigh(o Options, lengths []uint32, df []int32, counted int) {
	ix.frequent = map[int32]*frequent{}
	ix.idfs = lists.Map(df, func(n int32) float64 { return o.idf(float64(counted), float64(n)) })
	ix.best = make([]float64, len(df))
	if o.Formula == Okapi {
		floorIDFs(ix.idfs)
	}
	if o.LuceneLengths {
		ix.small = newSmallFloats(o, lengths, ix.Statistics.MeanLength)
	} else {
		ix.norms = lists.Map(lengths, func(l uint32) float64 { return o.norm(float64(l), ix.Statistics.MeanLength) })
	}
	for t := range df {
		best := 0.0
		for i := ix.starts[t]; i < ix.starts[t+1]; i++ {
			best = max(best, ix.weight(i))
		}
		ix.best[t] = best
		if df[t] >= isFrequent {
			ix.frequent[int32(t)] = ix.newFrequent(int32(t), len(lengths))
		}
	}
}

// weight grows with what a posting adds to a score.
func (ix *Index) weight(posting int64) float64 {
	if ix.small != nil {
		return float64(ix.small.saturation(float32(ix.frequency(posting)), ix.docs[posting]))
	}
	return ix.weighting.of(ix.frequency(posting), ix.norms[ix.docs[posting]])
}

// isFrequent is how many postings a term has that a search skips through.
const isFrequent = 64

// frequent is what a search needs to skip through the postings of a term.
type frequent struct {
	heavy  []int32  // documents of the greatest weights, one of heavyShare at most
	light  float64  // the greatest weight in others
	shift  uint8    // 1 << shift documents share a bit
	has    []uint64 // which of 64 << shift documents may have the term
	before []uint32 // postings of documents before those
}

const heavyShare = 8

func (ix *Index) newFrequent(t int32, documents int) *frequent {
	from, to, best := ix.starts[t], ix.starts[t+1], ix.best[t]
	f := &frequent{}
	if share := documents / int(to-from); share >= 32 { // more have a bit of their own, and their postings are found by counting
		f.shift = uint8(bits.Len(uint(share/4))) - 1
	}
	words := (documents-1)>>f.shift>>6 + 1
	f.has, f.before = make([]uint64, words), make([]uint32, words)
	const top = 64
	bin := func(posting int64) int {
		if w := ix.weight(posting); w < best {
			return int(w / best * top)
		}
		return top
	}
	var bins [top + 1]int64
	for i := from; i < to; i++ {
		bins[bin(i)]++
		at := ix.docs[i] >> f.shift
		f.has[at>>6] |= 1 << (at & 63)
		f.before[at>>6]++
	}
	before := uint32(0)
	for i, n := range f.before {
		f.before[i], before = before, before+n
	}
	n := int64(0)
	least := top + 1 // bin of heavy ones
	for least > 0 && n+bins[least-1] <= (to-from)/heavyShare {
		least--
		n += bins[least]
	}
	f.heavy = make([]int32, 0, n)
	for i := from; i < to; i++ {
		if bin(i) >= least {
			f.heavy = append(f.heavy, ix.docs[i])
		} else {
			f.light = max(f.light, ix.weight(i))
		}
	}
	return f
}

// floorIDFs raises what is below 0 to a quarter of the mean of all.
func floorIDFs(idfs []float64) {
	sum := 0.0
	for _, v := range idfs {
		sum += v
	}
	for t, v := range idfs {
		if v < 0 {
			idfs[t] = 0.25 * (sum / float64(len(idfs)))
		}
	}
}

// frequency is how often a posting's document has its term.
func (ix *Index) frequency(posting int64) float64 {
	if tf := ix.tf[posting]; tf != manyTimes {
		return float64(tf)
	}
	return float64(ix.often[posting])
}

// smallFloats is BM25Similarity of Lucene 9: lengths of a byte, and sums of float32.
type smallFloats struct {
	lengths  []byte // of documents
	inverses [256]float32
}

func newSmallFloats(o Options, lengths []uint32, mean float64) *smallFloats {
	s := &smallFloats{lengths: lists.Map(lengths, lengthByte)}
	k1, b, avg := float32(o.K1), float32(o.B), float32(mean)
	for i := range s.inverses {
		share := float32(b*float32(lengthOf(byte(i)))) / avg
		s.inverses[i] = 1 / float32(k1*float32(float32(1-b)+share))
	}
	return s
}

// saturation grows with the weight of a term.
func (s *smallFloats) saturation(tf float32, doc int32) float32 {
	return tf * s.inverses[s.lengths[doc]]
}

// smallWeight is idf x weight of a term.
func smallWeight(idf, saturation float32) float32 { return idf - float32(idf/float32(1+saturation)) }
