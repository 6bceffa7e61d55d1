package compute

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/model/bart"
	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/stores/local"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
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
	return errors.Join(x.LinkFile("tokenizer", m.tokenizer), inout.WriteJSON(x, "report", report))
}

// logUnused names the tensors of a model's file that nothing is computed with.
func logUnused(x *step.IO, tensors []string) {
	if len(tensors) > 0 {
		x.Log.Info("nothing is computed with these tensors of the model's file", "tensors", tensors)
	}
}

type stagedModel struct {
	x         *step.IO
	folder    string
	files     []artifacts.File // by name
	weights   []string         // names of the files that are read
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
	for _, f := range inout.Files(x, trees, inout.Called("file")) {
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
	if len(m.files) == 0 {
		return nil, step.Permanent(fmt.Errorf("files: %d are given, and none of them is below %q", others, folder))
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
	found := inout.Files(m.x, given, inout.Called(tokenizerFiles[0]))
	if len(given) == 0 {
		found = lists.Filter(m.files, func(f artifacts.File) bool { return slices.Contains(tokenizerFiles, f.Name) })
	}
	switch {
	case len(found) == 1:
		m.tokenizer = found[0]
		return nil
	case len(given) == 0 && len(found) == 0:
		return step.Permanent(errors.New("files: there is no tokenizer.json: give one as tokenizer; transformers writes one for a SentencePiece model: AutoTokenizer.from_pretrained(…).save_pretrained(…)"))
	}
	return step.Permanent(fmt.Errorf("tokenizer must be one file, got %d", len(found)))
}

// check refuses files that do not belong together, and returns how many tokens the tokenizer has.
func (m *stagedModel) check() (models.Checked, int, error) {
	checked, err := models.Check(m.folder)
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("there is no config.json")
	}
	if err != nil { // without the name of the folder, which says nothing
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

// besideWeights reports whether a model keeps a file beside its weights: it says how the model is used, or its licence.
func besideWeights(name string) bool {
	base := path.Base(name)
	return slices.Contains([]string{"config.json", "generation_config.json", "modules.json", "README.md", "sentence_bert_config.json"}, base) ||
		strings.HasPrefix(base, "LICENSE") || strings.HasPrefix(base, "NOTICE")
}

var tokenizerFiles = []string{"tokenizer.json", "tokenizer.json.gz", "tokenizer.json.zst"}

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
	x.Count("documents", int64(len(ids.Identifiers)))
	return errors.Join(x.LinkFile("tokenizer", m.tokenizer), inout.Write(x, "ids", ids.Write))
}

// read returns the content of a file, which must be there.
func (m *stagedModel) read(name string) ([]byte, error) {
	at := slices.IndexFunc(m.files, func(f artifacts.File) bool { return f.Name == name })
	if at < 0 {
		return nil, step.Permanent(fmt.Errorf("files: there is no %s: want what export_model wrote", name))
	}
	return inout.ReadFile(m.x, m.files[at])
}

// exportedIDs reads identifiers.jsonl, whose tokens must be below vocabulary.
func exportedIDs(r io.Reader, kind docid.Kind, vocabulary int64) (*docid.Set, error) {
	set := &docid.Set{Kind: kind}
	err := unpack.NewLines(r).Each(func(line []byte) error {
		var id exportedIdentifier
		if err := values.Written(line, &id); err != nil {
			return err
		}
		if i := slices.IndexFunc(id.Tokens, func(t int32) bool { return t < 0 || int64(t) >= vocabulary }); i >= 0 {
			return fmt.Errorf("token %d is outside of the model's vocabulary of %d", id.Tokens[i], vocabulary)
		}
		set.Identifiers = append(set.Identifiers, docid.Identifier{Document: id.Document, Text: id.Text, Tokens: id.Tokens})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return set, set.Check()
}

func runRandomT5(ctx context.Context, x *step.IO, c model.RandomT5Config) error {
	m, err := seq2seq.Init(sized(c), uint64(c.Seed), tensor.CPU)
	if err != nil {
		return step.Permanent(err)
	}
	defer m.Close()
	folder, err := x.Scratch()
	if err != nil {
		return err
	}
	if err := m.Save(folder); err != nil {
		return err
	}
	x.Count("parameters", seq2seq.ParameterCount(m.Config))
	return inout.CopyFolder(ctx, x, "model", folder)
}

func sized(c model.RandomT5Config) seq2seq.Config {
	if c.Family == "bart" {
		m := bart.Defaults()
		m.VocabSize, m.DModel, m.EncoderFFN, m.DecoderFFN = int64(c.Vocabulary), int64(c.DModel), int64(c.DFF), int64(c.DFF)
		m.EncoderLayers, m.DecoderLayers = int64(c.Layers), int64(cmp.Or(c.DecoderLayers, c.Layers))
		m.EncoderHeads, m.DecoderHeads, m.Dropout = int64(c.Heads), int64(c.Heads), c.Dropout
		m.ForcedEOS = nil // no forced token: scores of generation are the model's
		return m
	}
	m := t5.DefaultsOf(c.Family)
	m.VocabSize, m.DModel, m.DKV, m.DFF = int64(c.Vocabulary), int64(c.DModel), int64(c.DKV), int64(c.DFF)
	m.NumLayers, m.NumDecoderLayers, m.NumHeads = int64(c.Layers), int64(cmp.Or(c.DecoderLayers, c.Layers)), int64(c.Heads)
	m.DropoutRate, m.FeedForward, m.TieEmbeddings = c.Dropout, c.FeedForward, !strings.HasPrefix(c.FeedForward, "gated-")
	return m
}
