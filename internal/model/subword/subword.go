package subword

import (
	"crypto/sha256"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/daulet/tokenizers"

	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/internal/system/lists"
)

// Subword is the tokenizer of a model, whatever its sort: SentencePiece's Unigram (T5, mT5,
// XLM-R), byte-level BPE (BART, RoBERTa), WordPiece (BERT). Its methods may be called from several goroutines. Ids
// are positions in the model's vocabulary.
//
// Text is read as UTF-8; an invalid byte counts as U+FFFD. What is normalized and which special tokens stand around a
// text is said by the file: "</s>" after it (T5), "<s>" and "</s>" around it (BART). The text of a special token gives
// that token, as in transformers.
type Subword struct {
	mu sync.RWMutex // guards built against Close
	*built
}

// built is what a file is built into, which does not change.
type built struct {
	of            [sha256.Size]byte // the file's bytes
	native        *tokenizers.Tokenizer
	pieces        []string // by id
	before, after []int32  // special tokens around a text
	cuts          bool     // words end at blanks: PiecesPrefix may read only the beginning of a text
}

// idle is the tokenizer that was closed last, for the next one of the same file: steps that follow one
// another mostly have the same, which takes longer to build than a small collection to read.
var idle atomic.Pointer[built]

// LoadSubword reads a tokenizer.json or tokenizer.json.gz.
func LoadSubword(path string) (*Subword, error) { return tokenize.Load(path, NewSubword) }

// NewSubword builds the tokenizer from the bytes of a tokenizer.json, gzip or plain.
func NewSubword(data []byte) (*Subword, error) {
	c, plain, err := tokenize.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	return newSubword(c, plain)
}

func newSubword(c *tokenize.File, plain []byte) (t *Subword, err error) {
	of := sha256.Sum256(plain)
	if b := idle.Swap(nil); b != nil && b.of == of {
		return &Subword{built: b}, nil
	} else if b != nil {
		b.native.Close()
	}
	defer func() {
		if err != nil {
			t, err = nil, fmt.Errorf("tokenizer: %w", err)
		}
	}()
	t = &Subword{built: &built{of: of, cuts: c.PreTokenizer.AtBlanks()}}
	if t.pieces, err = piecesOf(c); err != nil {
		return nil, err
	}
	for _, a := range c.AddedTokens {
		t.cuts = t.cuts && !strings.Contains(a.Content, " ")
	}
	if plain, err = unbounded(c, plain); err != nil {
		return nil, err
	}
	if t.native, err = tokenizers.FromBytes(plain); err != nil {
		return nil, err
	}
	text, special := t.encode("a", false), t.encode("a", true)
	at := 0
	for at+len(text) < len(special) && !slices.Equal(special[at:at+len(text)], text) {
		at++
	}
	if t.before, t.after = special[:at], special[at+len(text):]; len(text) == 0 || len(t.after) == 0 {
		t.native.Close()
		return nil, errors.New("it puts no end token after a text: its post_processor must, as in the files of T5, BART and BERT")
	}
	return t, nil
}

// unbounded takes the truncation and padding out of a file that somebody saved with them;
// transformers too has neither unless it is asked.
func unbounded(c *tokenize.File, plain []byte) ([]byte, error) {
	set := func(v jsontext.Value) bool { return len(v) > 0 && string(v) != "null" }
	if !set(c.Truncation) && !set(c.Padding) {
		return plain, nil
	}
	var all map[string]jsontext.Value
	if err := json.Unmarshal(plain, &all, jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, err
	}
	delete(all, "truncation")
	delete(all, "padding")
	return json.Marshal(all, json.Deterministic(true), jsontext.AllowDuplicateNames(true))
}

// piecesOf lists the texts of all ids, added tokens included.
func piecesOf(c *tokenize.File) ([]string, error) {
	of := map[int32]string{}
	switch c.Model.Type {
	case "Unigram":
		var vocab []scored
		if err := json.Unmarshal(c.Model.Vocab, &vocab); err != nil {
			return nil, fmt.Errorf("vocab is not a list of [piece, score]: %w", err)
		}
		for i, piece := range vocab {
			of[int32(i)] = string(piece)
		}
	case "BPE", "WordPiece":
		var vocab map[string]int32
		if err := json.Unmarshal(c.Model.Vocab, &vocab, jsontext.AllowDuplicateNames(true)); err != nil {
			return nil, fmt.Errorf("vocab is not a map of pieces to ids: %w", err)
		}
		for piece, id := range vocab {
			if other, taken := of[id]; taken {
				return nil, fmt.Errorf("pieces %q and %q both have id %d", min(piece, other), max(piece, other), id)
			}
			of[id] = piece
		}
	default:
		return nil, fmt.Errorf("its model is %q, want Unigram, BPE or WordPiece", c.Model.Type)
	}
	for _, a := range c.AddedTokens {
		of[a.ID] = a.Content
	}
	pieces := make([]string, len(of))
	for id, piece := range of {
		if id < 0 || int(id) >= len(pieces) {
			return nil, fmt.Errorf("piece %q has id %d, outside of 0..%d: ids are without gaps", piece, id, len(pieces)-1)
		}
		pieces[id] = piece
	}
	return pieces, nil
}

// scored is the piece of an entry [piece, score] of a Unigram's vocabulary.
type scored string

// UnmarshalJSONFrom reads token by token, since a vocabulary has tens of thousands.
func (s *scored) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	for _, want := range []jsontext.Kind{jsontext.KindBeginArray, jsontext.KindString, jsontext.KindNumber, jsontext.KindEndArray} {
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		if t.Kind() != want {
			return fmt.Errorf("%s where %s was expected", t.Kind(), want)
		}
		if want == jsontext.KindString {
			*s = scored(t.String())
		}
	}
	return nil
}

// Encoder is a tokenizer of texts that an encoder model reads.
type Encoder interface {
	// EncodeTruncated returns at most limit ids of a text, special tokens around it among
	// them, and whether that is not all.
	EncodeTruncated(text string, limit int) (ids []int32, truncated bool)
	VocabSize() int
	Close() error
}

// LoadEncoder reads a tokenizer.json, plain or compressed: BERT's uncased WordPiece as BERT
// computes it, all others as their file says.
func LoadEncoder(path string) (Encoder, error) { return tokenize.Load(path, newEncoder) }

func newEncoder(data []byte) (Encoder, error) {
	c, plain, err := tokenize.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	if c.Model.Type == "WordPiece" && c.Normalizer.Type == "BertNormalizer" && c.Normalizer.Lowercase {
		if b, err := tokenize.BERTOf(c); err == nil {
			return b, nil
		} // one of other special tokens, such as MPNet's
	}
	return newSubword(c, plain)
}

// Close gives the native tokenizer back, to be freed once another one is closed or built. No other method may be called
// after it.
func (t *Subword) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.built
	if t.built = nil; was != nil {
		was = idle.Swap(was)
	}
	if was == nil {
		return nil
	}
	return was.native.Close()
}

// End is the last token that stands after a text, "</s>" of T5 and BART.
func (t *Subword) End() int32 { return t.after[len(t.after)-1] }

// VocabSize is the number of ids, 32,100 for T5. A model's embedding may have more
// rows (32,128 for T5: padding to a multiple of 128).
func (t *Subword) VocabSize() int { return len(t.pieces) }

// Encode returns the ids of text with the special tokens around it.
func (t *Subword) Encode(text string) []int32 { return t.encode(text, true) }

// EncodeBatch encodes many texts on all processors, in order.
func (t *Subword) EncodeBatch(texts []string) [][]int32 {
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
// it, which like NUL is not part of the vocabulary and joins its neighbours' word.
func (t *Subword) encode(text string, special bool) []int32 {
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "\ue000")
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.built == nil {
		panic("subword: tokenizer used after Close")
	}
	return lists.Map(t.native.EncodeWithOptions(text, special).IDs, func(id uint32) int32 { return int32(id) })
}

// Pieces returns the ids of text without special tokens around it.
func (t *Subword) Pieces(text string) []int32 { return t.encode(text, false) }

// Tokens returns the vocabulary's texts for the ids of text as Encode gives them, as the
// paper prints them: "▁14", "19", "13", "</s>".
func (t *Subword) Tokens(text string) []string {
	return lists.Map(t.Encode(text), func(id int32) string { return t.pieces[id] })
}

// Piece returns the vocabulary's text for one id; false if there is none (the
// embedding's padding rows, a document's atomic token).
func (t *Subword) Piece(id int32) (string, bool) {
	if id < 0 || int(id) >= len(t.pieces) {
		return "", false
	}
	return t.pieces[id], true
}

// Decode returns the text of ids, special tokens left out if skipSpecial (ids without a text are left out always). Like
// transformers' decode with clean_up_tokenization_spaces=False.
func (t *Subword) Decode(ids []int32, skipSpecial bool) string {
	known := lists.Filter(ids, func(id int32) bool { return id >= 0 && int(id) < len(t.pieces) })
	if len(known) == 0 {
		return ""
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.built == nil {
		panic("subword: tokenizer used after Close")
	}
	return t.native.Decode(lists.Map(known, func(id int32) uint32 { return uint32(id) }), skipSpecial)
}
