package compute

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/step"
)

func runImportModel(_ context.Context, x *step.IO, c model.ImportModelConfig) error {
	m, err := stageModel(x, c.Files, c.Folder, c.Tokenizer)
	if err != nil {
		return err
	}
	checked, tokens, err := m.check()
	if err != nil {
		return err
	}
	report := model.ImportModelReport{Type: checked.Type, Encoder: checked.Encoder, Parameters: checked.Parameters, Vocabulary: checked.Vocabulary,
		Tokens: tokens, MaxTokens: checked.MaxTokens, Weights: m.weights, LeftOut: []string{}, Unused: checked.Unused, Follows: checked.Follows}
	for _, f := range m.files {
		switch {
		case slices.Contains(m.weights, f.Name) || besideWeights(f.Name):
			err = x.LinkFile("model", f)
		case !slices.Contains(tokenizerFiles, f.Name):
			report.LeftOut = append(report.LeftOut, f.Name)
		}
		if err != nil {
			return err
		}
	}
	x.Count("files_left_out", int64(len(report.LeftOut)))
	logUnused(x, report.Unused)
	if err := x.LinkFile("tokenizer", m.tokenizer); err != nil {
		return err
	}
	return inout.WriteJSON(x, "report", report)
}

// logUnused names the tensors of a model's file that nothing is computed with.
func logUnused(x *step.IO, tensors []string) {
	if len(tensors) > 0 {
		x.Log.Info("nothing is computed with these tensors of the model's file", "tensors", tensors)
	}
}

// stagedModel is a model's files as a folder.
type stagedModel struct {
	x         *step.IO
	folder    string
	files     []artifacts.File // by name
	weights   []string         // those that are read
	tokenizer artifacts.File
}

// stageModel gathers the files below folder of all trees.
func stageModel(x *step.IO, trees step.Inputs, folder string, tokenizer step.Inputs) (*stagedModel, error) {
	m := &stagedModel{x: x}
	var err error
	if m.folder, err = x.Scratch(); err != nil {
		return nil, err
	}
	if folder != "" {
		folder += "/"
	}
	others := 0
	for _, tree := range trees {
		for _, f := range x.Files(tree, "file") {
			name, ok := strings.CutPrefix(f.Name, folder)
			if !ok {
				others++
				continue
			}
			if slices.ContainsFunc(m.files, func(other artifacts.File) bool { return other.Name == name }) {
				return nil, step.Permanent(fmt.Errorf("files: %s is given twice", name))
			}
			f.Name = name
			m.files = append(m.files, f)
		}
	}
	if len(m.files) == 0 {
		return nil, step.Permanent(fmt.Errorf("files: none of %d is below %q", others, folder))
	}
	slices.SortFunc(m.files, func(a, b artifacts.File) int { return strings.Compare(a.Name, b.Name) })
	m.weights = safetensors.Files(inout.Names(m.files))
	for _, f := range m.files {
		if !slices.Contains(m.weights, f.Name) && !besideWeights(f.Name) {
			continue
		}
		src, err := x.Path(f.Digest)
		if err == nil {
			err = local.Link(m.folder, f.Name, src)
		}
		if err != nil {
			return nil, err
		}
	}
	return m, m.findTokenizer(tokenizer)
}

// findTokenizer takes the tokenizer that is given, or the one among the files.
func (m *stagedModel) findTokenizer(given step.Inputs) error {
	var found []artifacts.File
	for _, in := range given {
		found = append(found, m.x.Files(in, tokenizerFiles[0])...)
	}
	if len(given) == 0 {
		for _, f := range m.files {
			if slices.Contains(tokenizerFiles, f.Name) {
				found = append(found, f)
			}
		}
	}
	switch {
	case len(found) == 1:
		m.tokenizer = found[0]
		return nil
	case len(given) == 0 && len(found) == 0:
		return step.Permanent(errors.New("files: there is no tokenizer.json: give one as tokenizer; of a SentencePiece model alone, AutoTokenizer.from_pretrained(…).save_pretrained(…) of transformers makes one"))
	}
	return step.Permanent(fmt.Errorf("tokenizer must be one file, got %d", len(found)))
}

// check says what does not fit together, and how many tokens the tokenizer has.
func (m *stagedModel) check() (models.Checked, int, error) {
	checked, err := models.Check(m.folder)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("there is no config.json")
	}
	if err != nil { // the folder is ours, and its name says nothing
		return checked, 0, step.Permanent(errors.New("files: " + strings.ReplaceAll(err.Error(), m.folder+"/", "")))
	}
	path, err := m.x.Path(m.tokenizer.Digest)
	if err != nil {
		return checked, 0, err
	}
	tokens, err := tokensOf(path, checked)
	if err != nil {
		return checked, 0, step.Permanent(errors.New(strings.ReplaceAll(err.Error(), path, m.tokenizer.Name)))
	}
	return checked, tokens, nil
}

// tokensOf opens a model's tokenizer and counts its tokens, which must be the model's.
func tokensOf(path string, of models.Checked) (int, error) {
	tokens := 0
	if of.Encoder {
		t, err := subword.LoadEncoder(path)
		if err != nil {
			return 0, err
		}
		defer t.Close()
		tokens = t.VocabSize()
	} else {
		t, err := subword.LoadSubword(path)
		if err != nil {
			return 0, err
		}
		defer t.Close()
		tokens = t.VocabSize()
		if end := int64(t.End()); end != of.EOS {
			return 0, fmt.Errorf("%s ends texts with token %d, eos_token_id of config.json is %d: they do not belong together", path, end, of.EOS)
		}
	}
	if int64(tokens) > of.Vocabulary {
		return 0, fmt.Errorf("%s has %d tokens, the model embeds %d: they do not belong together", path, tokens, of.Vocabulary)
	}
	return tokens, nil
}

// besideWeights are the other files that a model keeps: what says how it is used and by which
// licence.
func besideWeights(name string) bool {
	base := path.Base(name)
	return slices.Contains([]string{"config.json", "generation_config.json", "modules.json", "README.md", "sentence_bert_config.json"}, base) ||
		strings.HasPrefix(base, "LICENSE") || strings.HasPrefix(base, "NOTICE")
}

var tokenizerFiles = []string{"tokenizer.json", "tokenizer.json.gz", "tokenizer.json.zst"}
