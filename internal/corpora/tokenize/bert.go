package tokenize

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// BERT is an uncased WordPiece tokenizer, equal to transformers 4.44.1's slow BertTokenizer with
// clean_up_tokenization_spaces=True. It is immutable: several goroutines may call its methods.
//
// Text is read as UTF-8; an invalid byte counts as U+FFFD, which BERT drops.
// NOTE: Python drops characters newer than its Unicode tables (14.0 in 3.11); here Go's tables decide.
type BERT struct {
	words    wordPiece
	pieces   []string // by id
	specials []string // texts that are one token, "[UNK]" …
	ids      map[string]int32
	cls      int32
	sep      int32
	pad      int32
}

// LoadBERT reads a tokenizer.json or tokenizer.json.gz.
func LoadBERT(path string) (*BERT, error) { return Load(path, NewBERT) }

// NewBERT builds the tokenizer from the bytes of a tokenizer.json, plain or compressed.
func NewBERT(data []byte) (*BERT, error) {
	c, _, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("BERT tokenizer: %w", err)
	}
	return BERTOf(c)
}

// BERTOf builds the tokenizer of a parsed file.
func BERTOf(c *File) (_ *BERT, err error) {
	if c.Model.Type != "WordPiece" {
		return nil, fmt.Errorf("BERT tokenizer: its model is %q, want WordPiece", c.Model.Type)
	}
	if !c.Normalizer.Lowercase {
		return nil, errors.New("BERT tokenizer: it is cased; want an uncased one")
	}
	b := &BERT{ids: map[string]int32{}}
	if b.words, b.pieces, err = newWordPiece(c); err != nil {
		return nil, fmt.Errorf("BERT tokenizer: %w", err)
	}
	for _, s := range []struct {
		content string
		id      *int32
	}{{"[PAD]", &b.pad}, {"[CLS]", &b.cls}, {"[SEP]", &b.sep}} {
		if *s.id, err = c.Special(s.content); err != nil {
			return nil, fmt.Errorf("BERT tokenizer: %w", err)
		}
	}
	for _, t := range c.AddedTokens {
		if t.ID < 0 || int(t.ID) >= len(b.pieces) || b.pieces[t.ID] != t.Content {
			return nil, fmt.Errorf("BERT tokenizer: added token %q with id %d is not in the vocabulary", t.Content, t.ID)
		}
		b.specials = append(b.specials, t.Content)
		b.ids[t.Content] = t.ID
	}
	return b, nil
}

// VocabSize is the number of ids, 30,522 for bert-base-uncased.
func (b *BERT) VocabSize() int { return len(b.pieces) }

// EncodeTruncated returns [CLS], text's pieces and [SEP], at most limit >= 2 ids (transformers: truncation=True,
// max_length=limit), and whether text has more. It reads only as much of text as it needs.
func (b *BERT) EncodeTruncated(text string, limit int) (ids []int32, truncated bool) {
	if limit < 2 {
		panic(fmt.Sprintf("tokenize: a limit of %d ids leaves no room for [CLS] and [SEP]", limit))
	}
	ids = b.pieceIDs([]int32{b.cls}, text, limit)
	if truncated = len(ids) == limit; truncated {
		ids = ids[:limit-1]
	}
	return append(ids, b.sep), truncated
}

// Close does nothing: BERT has no native memory.
func (b *BERT) Close() error { return nil }

// Normalize returns NCI's title key, decode(tokenize(title)): lower case, no accents, blanks around punctuation except as in
// CleanUp. Unknown words are "[UNK]", so different titles may become equal.
func (b *BERT) Normalize(title string) string {
	var out strings.Builder
	out.Grow(len(title) + 16)
	for i, id := range b.pieceIDs(nil, title, math.MaxInt) {
		piece := b.pieces[id]
		if rest, ok := strings.CutPrefix(piece, "##"); ok && i > 0 {
			out.WriteString(rest)
			continue
		}
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(piece)
	}
	return CleanUp(strings.TrimSpace(out.String()))
}

// cleanUps are the replacements of transformers' clean_up_tokenization, in order.
var cleanUps = []struct{ from, to string }{
	{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"},
	{" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
}

// CleanUp removes blanks before punctuation and English contractions (transformers: clean_up_tokenization).
func CleanUp(text string) string {
	for _, c := range cleanUps {
		text = strings.ReplaceAll(text, c.from, c.to)
	}
	return text
}

// pieceIDs appends the ids of text until dst holds limit of them.
func (b *BERT) pieceIDs(dst []int32, text string, limit int) []int32 {
	for chunk := ""; text != "" && len(dst) < limit; {
		chunk, text, _ = strings.Cut(text, " ")
		for chunk != "" && len(dst) < limit {
			plain, special, rest := b.cutSpecial(chunk)
			basicWords(plain, func(word string) bool {
				dst = b.words.split(dst, word)
				return len(dst) < limit
			})
			if special != "" {
				dst = append(dst, b.ids[special])
			}
			chunk = rest
		}
	}
	return dst[:min(limit, len(dst))]
}

// cutSpecial cuts chunk around the first special token in it.
func (b *BERT) cutSpecial(chunk string) (before, special, after string) {
	first := strings.IndexByte(chunk, '[')
	if first < 0 {
		return chunk, "", ""
	}
	at := len(chunk)
	for _, s := range b.specials {
		if i := strings.Index(chunk, s); i >= 0 && i < at {
			at, special = i, s
		}
	}
	return chunk[:at], special, chunk[min(len(chunk), at+len(special)):]
}
