package docid

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/system/lists"
)

// Foreign is an identifier from a file of another program.
type Foreign struct {
	Place    string // file and line, for errors
	Document string // its name in the file
	Text     string // "" if the file has only tokens
	Tokens   []int32
}

// Imported turns imported identifiers into a set: the tokenizer adds missing text or tokens, and the special tokens.
type Imported struct {
	kind       Kind
	set        *Set
	place      map[string]int    // of documents, by their names in files
	given      map[string]string // place of a document's identifier
	texts      map[string]string // place of an identifier's text
	spell      *speller
	vocabulary int
	before     []int32 // special tokens around a text
	end        int32
}

// NewImported expects identifiers of documents under their names in files, with tokens below vocabulary or, if the kind
// grows the vocabulary, also above it.
func NewImported(kind Kind, documents, names []string, with Speller, vocabulary int) (*Imported, error) {
	if len(names) != len(documents) || kind.OneToken() {
		return nil, fmt.Errorf("%s identifiers of %d documents with %d names cannot be imported", kind, len(documents), len(names))
	}
	around := with.WithSpecialTokens(nil)
	f := &Imported{kind: kind, set: &Set{Kind: kind, Identifiers: make([]Identifier, len(documents))},
		place: make(map[string]int, len(names)), given: map[string]string{}, texts: map[string]string{},
		spell: newSpeller(with), vocabulary: vocabulary, before: around[:len(around)-1], end: around[len(around)-1]}
	for i, name := range names {
		if j, ok := f.place[name]; ok {
			return nil, fmt.Errorf("documents %s and %s are both called %q, so it is unclear which one an identifier is for: name documents by number", documents[j], documents[i], name)
		}
		f.place[name] = i
		f.set.Identifiers[i].Document = documents[i]
	}
	return f, nil
}

// Add takes the next identifier.
func (f *Imported) Add(id Foreign) error {
	place, ok := f.place[id.Document]
	if !ok {
		return fmt.Errorf("%s: %q is not one of the %d documents", id.Place, id.Document, len(f.place))
	}
	if other, ok := f.given[id.Document]; ok {
		return fmt.Errorf("%s: document %q has an identifier at %s already", id.Place, id.Document, other)
	}
	f.given[id.Document] = id.Place
	text, tokens, err := f.spelling(id)
	if err != nil {
		return fmt.Errorf("%s: document %q: %w", id.Place, id.Document, err)
	}
	if other, ok := f.texts[text]; ok {
		return fmt.Errorf("%s: document %q has the identifier %q, as the one at %s", id.Place, id.Document, text, other)
	}
	f.texts[text] = id.Place
	f.set.Identifiers[place].Text, f.set.Identifiers[place].Tokens = text, tokens
	return nil
}

func (f *Imported) spelling(id Foreign) (string, []int32, error) {
	if id.Tokens == nil {
		if f.kind.GrowsVocabulary() {
			return "", nil, fmt.Errorf("%s identifiers have tokens of their own, which no text spells: give their tokens", f.kind)
		}
		pieces := f.spell.Pieces(id.Text)
		if slices.ContainsFunc(pieces, f.spell.isSpecial) {
			return "", nil, fmt.Errorf("the tokenizer has no tokens for all of %q", id.Text)
		}
		text := f.spell.text(pieces)
		if text == "" {
			return "", nil, errors.New("it has neither text nor tokens")
		}
		return text, f.spell.WithSpecialTokens(pieces), nil
	}
	inner := id.Tokens
	if n := len(inner); n > 0 && inner[n-1] == f.end {
		inner = inner[:n-1]
	}
	if len(inner) >= len(f.before) && slices.Equal(inner[:len(f.before)], f.before) {
		inner = inner[len(f.before):]
	}
	if len(inner) == 0 {
		return "", nil, errors.New("it has no tokens")
	}
	for _, t := range inner {
		switch {
		case t < 0 || !f.kind.GrowsVocabulary() && int(t) >= f.vocabulary:
			return "", nil, fmt.Errorf("token %d is outside of the vocabulary of %d", t, f.vocabulary)
		case t == f.end:
			return "", nil, fmt.Errorf("token %d, which ends an identifier, occurs within it", t)
		}
	}
	tokens := f.spell.WithSpecialTokens(inner)
	if f.kind.GrowsVocabulary() {
		if id.Text == "" {
			id.Text = strings.Trim(strings.ReplaceAll(fmt.Sprint(inner), " ", "-"), "[]")
		}
		return id.Text, tokens, nil
	}
	text := f.spell.text(inner)
	switch given := strings.TrimSpace(id.Text); {
	case given != "" && given != text:
		return "", nil, fmt.Errorf("its tokens spell %q, its text is %q: give only one of them, or the tokenizer of the tokens", text, id.Text)
	case text == "":
		return "", nil, errors.New("its tokens spell nothing")
	}
	return text, tokens, nil
}

// Set returns the identifiers, after checks that every document has one and that all differ.
func (f *Imported) Set() (*Set, error) {
	missing := lists.Filter(slices.Collect(maps.Keys(f.place)), func(name string) bool {
		return f.set.Identifiers[f.place[name]].Tokens == nil
	})
	if len(missing) > 0 {
		slices.SortFunc(missing, func(a, b string) int { return f.place[a] - f.place[b] })
		return nil, fmt.Errorf("%d of %d documents have no identifier, the first is %q", len(missing), len(f.place), missing[0])
	}
	return f.set, f.set.Check()
}
