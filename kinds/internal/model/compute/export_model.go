package compute

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/export"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

// generationConfig is generation_config.json: the search that redsi makes.
type generationConfig struct {
	specialTokens
	NumBeams           int     `json:"num_beams,omitempty"`
	NumReturnSequences int     `json:"num_return_sequences,omitempty"`
	EarlyStopping      any     `json:"early_stopping,omitempty"` // transformers': false, true or "never"
	LengthPenalty      float64 `json:"length_penalty,omitempty"`
	MaxNewTokens       int     `json:"max_new_tokens"`
	Version            string  `json:"transformers_version"`
}

// exportedIdentifier is a line of identifiers.jsonl.
type exportedIdentifier struct {
	Document string  `json:"docid"` // its number
	Title    string  `json:"title,omitempty"`
	Text     string  `json:"text"`
	Tokens   []int32 `json:"tokens"`
}

func runExportModel(ctx context.Context, x *step.IO, c model.ExportModelConfig) error {
	for _, f := range x.Files(c.Model, "model") {
		if err := x.LinkFile("files", f); err != nil {
			return err
		}
	}
	settings, err := model.Settings(x, c.Model)
	if err != nil {
		return err
	}
	special, ownHead, err := ofConfig(x, c.Model)
	if err != nil {
		return err
	}
	ids, err := inout.ReadIDs(x, c.IDs)
	if err != nil {
		return err
	}
	if err := settings.Match(ids); err != nil {
		return step.Permanent(err)
	}
	titles, err := titlesOf(x, c.Documents, ids)
	if err != nil {
		return err
	}
	longest := 0
	err = inout.WriteFile(x, "files", "identifiers.jsonl", func(w io.Writer) error {
		b := bufio.NewWriter(w)
		lines := json.NewEncoder(b)
		lines.SetEscapeHTML(false)
		for i, id := range ids.Identifiers {
			longest = max(longest, len(id.Tokens))
			if err := lines.Encode(exportedIdentifier{id.Document, titles[i], id.Text, id.Tokens}); err != nil {
				return err
			}
		}
		return b.Flush()
	})
	if err != nil {
		return err
	}
	x.Count("documents", int64(len(ids.Identifiers)))
	if err := exportTokenizer(x, c.Tokenizer, special); err != nil {
		return err
	}
	tok, read, err := openTokenizer(x, c.Tokenizer, settings.Inputs.Reader)
	if err != nil {
		return err
	}
	defer tok.Close()
	query, err := queryInput(read)
	if err != nil {
		return err
	}
	generation := generationConfig{specialTokens: special, MaxNewTokens: 1, Version: transformersVersion}
	if !ids.Kind.OneToken() {
		o := retrieve.Default()
		generation = generationConfig{specialTokens: special, NumBeams: o.Width, NumReturnSequences: o.Width, LengthPenalty: o.LengthPenalty,
			EarlyStopping: transformersStopping(settings.Search.EarlyStopping), MaxNewTokens: longest, Version: transformersVersion}
	}
	if err := writeJSONFile(x, "generation_config.json", generation); err != nil {
		return err
	}
	card, err := modelCard(x, c, settings, query)
	if err != nil {
		return err
	}
	card.OwnHead = ownHead
	return inout.WriteFile(x, "files", "README.md", func(w io.Writer) error { return step.Permanent(export.WriteModelCard(w, card)) })
}

// transformersVersion is the one whose generation, formats and card are checked.
const transformersVersion = "4.44.1"

// transformersStopping is how transformers writes when a search ends.
func transformersStopping(s stopping.Rule) any {
	switch s {
	case stopping.Full:
		return true
	case stopping.Never:
		return "never"
	}
	return nil // its default
}

// titlesOf are the titles of the documents, by the places of their identifiers; empty
// without documents.
func titlesOf(x *step.IO, in step.Input, ids *docid.Set) ([]string, error) {
	titles := make([]string, len(ids.Identifiers))
	if !in.Set() {
		return titles, nil
	}
	pairing := ids.PairWith("documents")
	err := inout.EachRow(x, in, "documents", func(d *dedup.Document) error {
		place, err := pairing.Find(int(d.Doc))
		if err == nil {
			titles[place] = d.Title
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return titles, step.Permanent(pairing.Complete())
}

func writeJSONFile(x *step.IO, name string, v any) error {
	return inout.WriteFile(x, "files", name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	})
}
