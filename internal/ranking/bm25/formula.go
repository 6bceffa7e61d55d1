package bm25

import (
	"fmt"
	"math"
	"math/bits"
)

// Formula is how a query's terms score a document.
type Formula string

// The formulas, with tf a term's frequency in a document, df the documents that have it, N
// all documents, len and avg a document's length and the mean, L = 1 - b + b len / avg and
// K = k1 L. A score is the sum over the query's words of idf x weight.
const (
	// Lucene is Lucene's since version 8: idf ln(1 + (N - df + 0.5) / (df + 0.5)), weight tf / (tf + K).
	Lucene Formula = "lucene"
	// Robertson is from Robertson et al., "Okapi at TREC-3" (1994), with no idf below 0: idf ln((N - df + 0.5) / (df +
	// 0.5)), weight as Lucene's.
	Robertson Formula = "robertson"
	// ATIRE is from Trotman, Jia and Crane, "Towards an Efficient and Effective Search Engine" (2012): idf ln(N / df),
	// weight (k1 + 1) tf / (tf + K).
	ATIRE Formula = "atire"
	// Plus is BM25+ of Lv and Zhai, "Lower-Bounding Term Frequency Normalization" (2011):
	// idf ln((N + 1) / df), weight delta + (k1 + 1) tf / (tf + K).
	Plus Formula = "bm25+"
	// Long is BM25L of Lv and Zhai, "When Documents Are Very Long, BM25 Fails!" (2011): idf
	// ln((N + 1) / (df + 0.5)), weight (k1 + 1)(c + delta) / (k1 + c + delta), c = tf / L.
	Long Formula = "bm25l"
	// Okapi is rank_bm25's BM25Okapi: Robertson's idf, but one below 0 becomes a quarter of
	// the mean idf of all terms; weight as ATIRE's.
	Okapi Formula = "okapi"
)

// Options are a formula and its parameters, which are finite.
type Options struct {
	Formula Formula
	K1      float64 // at least 0
	B       float64 // from 0 to 1
	Delta   float64 // of Plus and Long: at least 0

	// LuceneLengths has Lucene compute as its BM25Similarity does: a document's length is
	// kept in a byte (SmallFloat.intToByte4), exact to 40 words and in steps of a sixteenth
	// to an eighth above, documents without a word do not count, and numbers are float32.
	LuceneLengths bool
	// Absent gives a query's word that a document lacks the weight of tf = 0 under Plus and
	// Long, as bm25s and rank_bm25 do: delta's lower bound is then the same for all
	// documents. Lv and Zhai sum over words that the document has.
	Absent bool
}

// Check reports options that a formula does not have.
func (o Options) Check() error {
	switch {
	case o.LuceneLengths && o.Formula != Lucene:
		return fmt.Errorf("formula %q has no lengths in a byte; only %q does", o.Formula, Lucene)
	case o.Absent && o.Formula != Plus && o.Formula != Long:
		return fmt.Errorf("formula %q gives nothing for words that a document lacks; only %q and %q do", o.Formula, Plus, Long)
	}
	return nil
}

// idf of a term in df of n documents.
func (o Options) idf(n, df float64) float64 {
	switch o.Formula {
	case Lucene:
		return math.Log(1 + (n-df+0.5)/(df+0.5))
	case Robertson:
		return math.Log(max(1, (n-df+0.5)/(df+0.5)))
	case ATIRE:
		return math.Log(n / df)
	case Plus:
		return math.Log((n + 1) / df)
	case Long:
		return math.Log((n + 1) / (df + 0.5))
	}
	return math.Log(n-df+0.5) - math.Log(df+0.5)
}

// weighting is a formula's weight without factors that are the same for all documents: a posting counts factor x tf /
// (tf + norm) + bonus for short formulas.
type weighting struct {
	factor, bonus float64
	absent        float64 // weight of tf = 0
	long          bool    // Long
	k1, delta     float64
}

func (o Options) weighting() weighting {
	w := weighting{factor: 1, k1: o.K1, delta: o.Delta}
	switch o.Formula {
	case ATIRE, Okapi:
		w.factor = o.K1 + 1
	case Plus:
		w.factor, w.bonus = o.K1+1, o.Delta
		if o.Absent {
			w.absent = o.Delta
		}
	case Long:
		w.factor, w.long = o.K1+1, true
		if o.Absent && o.Delta > 0 {
			w.absent = (o.K1 + 1) * o.Delta / (o.K1 + o.Delta)
		}
	}
	return w
}

// norm is what the formula takes of a document's length: K, or L.
func (o Options) norm(length, mean float64) float64 {
	l := 1.0
	if mean > 0 {
		l = 1 - o.B + o.B*length/mean
	}
	if o.Formula == Long {
		return l
	}
	return o.K1 * l
}

// of is the weight of a term that a document with that norm has tf times.
func (w *weighting) of(tf, norm float64) float64 {
	if !w.long {
		return w.factor*tf/(tf+norm) + w.bonus
	}
	c := tf/norm + w.delta
	return w.factor * c / (w.k1 + c)
}

// A byte holds lengths below freeLengths as they are and others as a float of four bits,
// as Lucene's SmallFloat.intToByte4.
const freeLengths = 24

func lengthByte(n uint32) byte {
	if n < freeLengths {
		return byte(n)
	}
	return freeLengths + fourBits(n-freeLengths)
}

func fourBits(n uint32) byte {
	if n < 8 {
		return byte(n)
	}
	shift := bits.Len32(n) - 4
	return byte(n>>shift&7) | byte(shift+1)<<3
}

func lengthOf(b byte) uint32 {
	if b < freeLengths {
		return uint32(b)
	}
	b -= freeLengths
	if b < 8 {
		return freeLengths + uint32(b)
	}
	return freeLengths + uint32(b&7|8)<<(b>>3-1)
}
