// Package index searches a collection's identifiers with a model (paper, "Retrieval").
package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/model/decode"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/system/lists"
)

// Catalog is a collection's identifiers, ready to be searched. It is immutable,
// holds 12 bytes per prefix and may be shared by indexes.
type Catalog struct {
	kind      docid.Kind
	first     int64
	documents int
	trie      *docid.Trie // nil for identifiers of one token
	texts     func() retrieve.Texts
	tokenizer *subword.Subword
}

// NewCatalog checks a set and builds its trie. The tokenizer is the model's, must stay
// open, and is needed only for what is valid by its text.
func NewCatalog(ids *docid.Set, tokenizer *subword.Subword) (*Catalog, error) {
	if len(ids.Identifiers) == 0 {
		return nil, errors.New("the collection has no identifiers")
	}
	c := &Catalog{kind: ids.Kind, documents: len(ids.Identifiers), tokenizer: tokenizer}
	c.texts = sync.OnceValue(func() retrieve.Texts { return retrieve.TextsOf(ids) })
	if !ids.Kind.OneToken() {
		var err error
		c.trie, err = docid.NewTrie(ids.Sequences())
		return c, err
	}
	for i, id := range ids.Identifiers {
		if n := len(id.Tokens); n < 1 || n > 2 || !slices.Equal(id.Tokens[1:], ids.Identifiers[0].Tokens[1:]) {
			return nil, fmt.Errorf("document %q is tokens %v; an %s identifier is one token, with </s> if all have it", id.Document, id.Tokens, ids.Kind)
		}
		if i == 0 {
			c.first = int64(id.Tokens[0])
		}
		if int64(id.Tokens[0]) != c.first+int64(i) {
			return nil, fmt.Errorf("document %q is token %d, not %d, which follows its predecessor's", id.Document, id.Tokens[0], c.first+int64(i))
		}
	}
	return c, nil
}

// find is the place of the identifier that a hypothesis names.
func (c *Catalog) find(v retrieve.Validity) func(tokens []int32) (place int, ok bool) {
	if v == retrieve.ByTokens {
		return c.trie.Find
	}
	return func(tokens []int32) (int, bool) {
		if place, ok := c.trie.Find(tokens); ok {
			return place, true
		}
		return c.texts().Find(c.tokenizer.Decode(tokens, true))
	}
}

// Index searches a catalog with a model. Several goroutines may use it at once; a change of the model's weights needs a
// new one.
type Index struct {
	searcher *decode.Searcher // of documents, or of all tokens where identifiers have several
	catalog  *Catalog
	batch    int // where options do not say
}

// onCPU is how many queries a CPU decodes together where options do not say.
const onCPU = 32

// New takes what it needs of m, which must stay open.
func New(m *seq2seq.Model, c *Catalog) (*Index, error) {
	x := &Index{catalog: c}
	if !m.Device.IsCUDA() {
		x.batch = onCPU
	}
	var err error
	if c.trie == nil {
		x.searcher, err = decode.NewRanker(m, c.first, int64(c.documents))
	} else {
		x.searcher, err = decode.NewSearcher(m)
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}

// Close frees what is kept beside the model; no search may be running.
func (x *Index) Close() { x.searcher.Close() }

// Warn lets say be called with a sentence when a card has no room for a batch.
func (x *Index) Warn(say func(string)) { x.searcher.Warn = say }

// Search returns what the model names for each query, best first: the hypotheses without a document among them, no
// document twice. A query is tokens with </s>. A beam has room for the longest identifier and no more, since no longer
// hypothesis can be valid. report, which may be nil, hears how many queries are done.
func (x *Index) Search(ctx context.Context, queries [][]int32, o retrieve.Options, report func(done int)) ([]decode.Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if o.Batch == 0 {
		o.Batch = x.batch
	}
	if x.catalog.trie == nil {
		return x.searcher.Rank(ctx, queries, o.Width, o.Batch, report)
	}
	b := decode.NewBeam(x.catalog.trie.Depth, nil)
	b.Width, b.Return, b.LengthPenalty, b.EarlyStopping = o.Width, o.Width, o.LengthPenalty, o.EarlyStopping
	if o.Constrained {
		b.Trie = x.catalog.trie
	}
	found, err := x.searcher.Search(ctx, queries, b, o.Batch, report)
	if err != nil {
		return nil, err
	}
	return lists.Map(found, func(of []decode.Hypothesis) decode.Result { return decode.Rank(of, x.catalog.find(o.Validity)) }), nil
}
