package tokenize

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/daulet/tokenizers"
	"github.com/goccy/go-json"
)

// T5 is the SentencePiece (Unigram) tokenizer of T5. Its methods may be called
// from several goroutines. Ids are positions in the model's vocabulary.
//
// Text is read as UTF-8; an invalid byte counts as U+FFFD. T5 is cased: nothing is
// lower-cased here. Runs of white space become one blank, NFKC is applied, and
// the text of a special token ("</s>") gives that token, as in transformers.
type T5 struct {
	mu     sync.RWMutex // guards native against Close
	native *tokenizers.Tokenizer
	pieces []string // by id
	pad    int32
	eos    int32
	unk    int32
}

// LoadT5 reads a tokenizer.json or tokenizer.json.gz.
func LoadT5(path string) (*T5, error) { return load(path, NewT5) }

// NewT5 builds the tokenizer from the bytes of a tokenizer.json, plain or
// compressed.
func NewT5(data []byte) (*T5, error) {
	c, plain, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("T5 tokenizer: %w", err)
	}
	if c.Model.Type != "Unigram" {
		return nil, fmt.Errorf("T5 tokenizer: its model is %q, want Unigram", c.Model.Type)
	}
	t := new(T5)
	for _, s := range []struct {
		content string
		id      *int32
	}{{"<pad>", &t.pad}, {"</s>", &t.eos}, {"<unk>", &t.unk}} {
		if *s.id, err = c.special(s.content); err != nil {
			return nil, fmt.Errorf("T5 tokenizer: %w", err)
		}
	}
	if t.pieces, err = unigramPieces(c); err != nil {
		return nil, fmt.Errorf("T5 tokenizer: %w", err)
	}
	if t.native, err = tokenizers.FromBytes(plain); err != nil {
		return nil, fmt.Errorf("T5 tokenizer: %w", err)
	}
	return t, nil
}

// unigramPieces lists the texts of all ids, added tokens included.
func unigramPieces(c *config) ([]string, error) {
	var vocab []unigramEntry
	if err := json.Unmarshal(c.Model.Vocab, &vocab); err != nil {
		return nil, fmt.Errorf("vocab is not a list of [piece, score]: %w", err)
	}
	pieces := make([]string, len(vocab))
	for i, e := range vocab {
		pieces[i] = string(e)
	}
	for _, a := range c.AddedTokens {
		if a.ID < 0 || int(a.ID) > len(pieces) {
			return nil, fmt.Errorf("added token %q has id %d, outside 0..%d", a.Content, a.ID, len(pieces))
		}
		if int(a.ID) == len(pieces) {
			pieces = append(pieces, a.Content)
		}
		pieces[a.ID] = a.Content
	}
	return pieces, nil
}

// unigramEntry is the piece of one [piece, score] pair.
type unigramEntry string

func (e *unigramEntry) UnmarshalJSON(data []byte) error {
	var pair [2]json.RawMessage
	if err := json.Unmarshal(data, &pair); err != nil {
		return err
	}
	return json.Unmarshal(pair[0], (*string)(e))
}

// Close frees the native tokenizer. No other method may be called after it.
func (t *T5) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.native == nil {
		return nil
	}
	err := t.native.Close()
	t.native = nil
	return err
}

// Pad is the id of <pad>, which also starts the decoder.
func (t *T5) Pad() int32 { return t.pad }

// EOS is the id of </s>.
func (t *T5) EOS() int32 { return t.eos }

// Unk is the id of <unk>.
func (t *T5) Unk() int32 { return t.unk }

// VocabSize is the number of ids, 32,100 for T5. A model's embedding may have more
// rows (32,128 for T5: padding to a multiple of 128).
func (t *T5) VocabSize() int { return len(t.pieces) }

// Encode returns the ids of text and a final </s>.
func (t *T5) Encode(text string) []int32 { return t.encode(text, true) }

// EncodeBatch encodes many texts on all processors, in order.
func (t *T5) EncodeBatch(texts []string) [][]int32 {
	out := make([][]int32, len(texts))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(texts)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(texts); i = int(next.Add(1)) - 1 {
				out[i] = t.encode(texts[i], true)
			}
		})
	}
	wg.Wait()
	return out
}

// encode calls the library. NUL cannot pass its C strings; U+E000 stands in for
// it, which like NUL is no part of the vocabulary and joins its neighbours' word.
func (t *T5) encode(text string, special bool) []int32 {
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "\ue000")
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.native == nil {
		panic("tokenize: T5 used after Close")
	}
	ids := t.native.EncodeWithOptions(text, special).IDs
	out := make([]int32, len(ids))
	for i, id := range ids {
		out[i] = int32(id)
	}
	return out
}

// Pieces returns the ids of text without </s>.
func (t *T5) Pieces(text string) []int32 { return t.encode(text, false) }

// HasUnknown reports whether the tokens of text include <unk> (special tokens
// are not added; paper, appendix "Pronunciation Cleanup").
func (t *T5) HasUnknown(text string) bool {
	return slices.Contains(t.encode(text, false), t.unk)
}

// Tokens returns the vocabulary's texts for the ids of text with </s>, as the
// paper prints them: "▁14", "19", "13", "</s>".
func (t *T5) Tokens(text string) []string {
	ids := t.Encode(text)
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = t.pieces[id]
	}
	return out
}

// Piece returns the vocabulary's text for one id; false if there is none (the
// embedding's padding rows, a document's atomic token).
func (t *T5) Piece(id int32) (string, bool) {
	if id < 0 || int(id) >= len(t.pieces) {
		return "", false
	}
	return t.pieces[id], true
}

// Decode returns the text of ids, special tokens left out if skipSpecial (ids
// without a text are left out always). Like transformers' decode with
// clean_up_tokenization_spaces=False.
func (t *T5) Decode(ids []int32, skipSpecial bool) string {
	known := make([]uint32, 0, len(ids))
	for _, id := range ids {
		if id >= 0 && int(id) < len(t.pieces) {
			known = append(known, uint32(id))
		}
	}
	if len(known) == 0 {
		return ""
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.native == nil {
		panic("tokenize: T5 used after Close")
	}
	return t.native.Decode(known, skipSpecial)
}
