package compute

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

func runImportTrained(_ context.Context, x *step.IO, c model.ImportTrainedConfig) error {
	m, err := stageModel(x, c.Files, c.Folder, nil)
	if err != nil {
		return err
	}
	checked, _, err := m.check()
	if err != nil {
		return err
	}
	if checked.Encoder {
		return step.Permanent(fmt.Errorf("files: the model is an encoder (%s), which cannot answer queries: use import_model", checked.Type))
	}
	text, err := m.read(retrieve.SettingsFile)
	if err != nil {
		return err
	}
	settings, err := retrieve.ParseSettings(text)
	if err != nil {
		return step.Permanent(fmt.Errorf("files: %w", err))
	}
	lines, err := m.read("identifiers.jsonl")
	if err != nil {
		return err
	}
	ids, err := exportedIDs(bytes.NewReader(lines), settings.Identifiers, checked.Vocabulary)
	if err == nil {
		err = settings.Match(ids)
	}
	if err != nil {
		return step.Permanent(fmt.Errorf("identifiers.jsonl: %w", err))
	}
	for _, f := range m.files {
		if f.Name == seq2seq.ConfigFile || f.Name == retrieve.SettingsFile || slices.Contains(m.weights, f.Name) {
			if err := x.LinkFile("model", f); err != nil {
				return err
			}
		}
	}
	if err := x.LinkFile("tokenizer", m.tokenizer); err != nil {
		return err
	}
	x.Count("documents", int64(len(ids.Identifiers)))
	return inout.Write(x, "ids", ids.Write)
}

// read is a file's content; without the file it is an error.
func (m *stagedModel) read(name string) ([]byte, error) {
	at := slices.IndexFunc(m.files, func(f artifacts.File) bool { return f.Name == name })
	if at < 0 {
		return nil, step.Permanent(fmt.Errorf("files: there is no %s: want what export_model wrote", name))
	}
	return inout.ReadFile(m.x, m.files[at])
}

// exportedIDs reads identifiers.jsonl. Tokens are below vocabulary.
func exportedIDs(r io.Reader, kind docid.Kind, vocabulary int64) (*docid.Set, error) {
	set := &docid.Set{Kind: kind}
	err := unpack.NewLines(r).Each(func(line []byte) error {
		var id exportedIdentifier
		if err := values.Written(line, &id); err != nil {
			return err
		}
		for _, token := range id.Tokens {
			if token < 0 || int64(token) >= vocabulary {
				return fmt.Errorf("token %d is outside of the model's vocabulary of %d", token, vocabulary)
			}
		}
		set.Identifiers = append(set.Identifiers, docid.Identifier{Document: id.Document, Text: id.Text, Tokens: id.Tokens})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return set, set.Check()
}
