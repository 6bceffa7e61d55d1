package compute

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/kinds/internal/ids"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

func runImportIDs(ctx context.Context, x *step.IO, c ids.ImportIDsConfig) error {
	var numbers, names []string
	err := inout.EachRow(x, c.Documents, "", func(d *dedup.Document) error {
		number := strconv.Itoa(int(d.Doc))
		name := d.Key
		if c.Names == "number" {
			name = number
		}
		numbers, names = append(numbers, number), append(names, name)
		return nil
	})
	if err != nil {
		return err
	}
	tok, err := openTokenizer(x, c.Tokenizer, "tokenizer")
	if err != nil {
		return err
	}
	defer tok.Close()
	vocabulary := c.Vocabulary
	if vocabulary == 0 {
		vocabulary = tok.VocabSize()
	}
	f, err := docid.NewImported(docid.Kind(c.Type), numbers, names, tok, vocabulary)
	if err != nil {
		return step.Permanent(err)
	}
	err = inout.EachRecord(x, c.Files, "identifiers", c.File, func(r inout.Record) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		id, err := foreignID(r)
		if err != nil {
			return err
		}
		return f.Add(id)
	})
	if err != nil {
		return err
	}
	set, err := f.Set()
	if err != nil {
		return step.Permanent(fmt.Errorf("files: %w", err))
	}
	return inout.WriteIDs(x, set)
}

// foreignID reads a line's identifier.
func foreignID(r inout.Record) (docid.Foreign, error) {
	id := docid.Foreign{Place: r.Place, Document: r.Document}
	var err error
	if id.Text, err = r.Text(0, "text", "identifier"); err != nil {
		return id, err
	}
	if err = r.List(&id.Tokens, "tokens"); err != nil {
		return id, err
	}
	words, err := r.Text(1)
	if err != nil {
		return id, err
	}
	for word := range strings.FieldsSeq(words) {
		t, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			return id, fmt.Errorf("%s: token %.20q is not a token id", r.Place, word)
		}
		id.Tokens = append(id.Tokens, int32(t))
	}
	return id, nil
}
