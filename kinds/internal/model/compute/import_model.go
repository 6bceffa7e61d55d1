package compute

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/export"
	"github.com/redsi/redsi/internal/corpora/safetensors"
	"github.com/redsi/redsi/internal/corpora/tokenize"
	"github.com/redsi/redsi/internal/corpora/unpack"
	"github.com/redsi/redsi/internal/model/bart"
	"github.com/redsi/redsi/internal/model/models"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
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
	for f := range inout.Files(x, trees, inout.Called("file")) {
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
	found := slices.Collect(inout.Files(m.x, given, inout.Called(tokenizerFiles[0])))
	if len(given) == 0 {
		found = lists.Filter(m.files, func(f artifacts.File) bool { return slices.Contains(tokenizerFiles, f.Name) })
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
	var t interface {
		VocabSize() int
		Close() error
	}
	var err error
	end := of.EOS
	if of.Encoder {
		t, err = subword.LoadEncoder(path)
	} else if s, failed := subword.LoadSubword(path); failed == nil {
		t, end = s, int64(s.End())
	} else {
		err = failed
	}
	if err != nil {
		return 0, err
	}
	defer t.Close()
	tokens := t.VocabSize()
	if end != of.EOS {
		return 0, fmt.Errorf("%s ends texts with token %d, eos_token_id of config.json is %d: they do not belong together", path, end, of.EOS)
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

// sized is the configuration of a model of these sizes.
func sized(c model.RandomT5Config) seq2seq.Config {
	if c.Family == "bart" {
		m := bart.Defaults()
		m.VocabSize, m.DModel, m.EncoderFFN, m.DecoderFFN = int64(c.Vocabulary), int64(c.DModel), int64(c.DFF), int64(c.DFF)
		m.EncoderLayers, m.DecoderLayers = int64(c.Layers), int64(cmp.Or(c.DecoderLayers, c.Layers))
		m.EncoderHeads, m.DecoderHeads, m.Dropout = int64(c.Heads), int64(c.Heads), c.Dropout
		m.ForcedEOS = nil // no token is forced: scores of generation are the model's
		return m
	}
	m := t5.DefaultsOf(c.Family)
	m.VocabSize, m.DModel, m.DKV, m.DFF = int64(c.Vocabulary), int64(c.DModel), int64(c.DKV), int64(c.DFF)
	m.NumLayers, m.NumDecoderLayers, m.NumHeads = int64(c.Layers), int64(cmp.Or(c.DecoderLayers, c.Layers)), int64(c.Heads)
	m.DropoutRate, m.FeedForward, m.TieEmbeddings = c.Dropout, c.FeedForward, !strings.HasPrefix(c.FeedForward, "gated-")
	return m
}

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
			EarlyStopping: transformersStopping[settings.Search.EarlyStopping], MaxNewTokens: longest, Version: transformersVersion}
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

// transformersStopping is how transformers writes when a search ends; nil: its default.
var transformersStopping = map[stopping.Rule]any{stopping.Full: true, stopping.Never: "never"}

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

// queryInput is how the tokenizer alone, given a text with its prefix, makes the tokens that
// the reader makes.
func queryInput(read retrieve.Reader) (export.QueryInput, error) {
	how, tok := read.Inputs, read.Tokenizer
	q := export.QueryInput{Tokens: how.MaxQuery + len(tok.WithSpecialTokens(nil)), Lowercase: how.Lowercase}
	if how.QueryPrefix == "" {
		return q, nil
	}
	const probe = "who played"
	want := slices.Concat(tok.Pieces(how.QueryPrefix), tok.Pieces(probe))
	for _, between := range []string{" ", ""} { // T5's pieces begin with a blank, those of BART do not
		if q.Prefix = how.QueryPrefix + between; slices.Equal(tok.Pieces(q.Prefix+probe), want) {
			return q, nil
		}
	}
	return q, step.Permanent(fmt.Errorf("the tokenizer has other tokens for a query after the prefix %q than for both alone: no text stands for what the model reads", how.QueryPrefix))
}

func modelCard(x *step.IO, c model.ExportModelConfig, s retrieve.Settings, query export.QueryInput) (export.ModelCard, error) {
	card := export.ModelCard{Name: c.Name, License: c.License, Language: c.Language, Base: c.Base, Dataset: c.Dataset, Command: c.Command,
		Identifiers: string(s.Identifiers), OneToken: s.Identifiers.OneToken(), Documents: s.Documents,
		Query: query, Valid: string(s.Search.Validity), Ends: string(s.Search.EarlyStopping)}
	for _, set := range c.Settings {
		name, value, _ := strings.Cut(set, "=")
		card.Settings = append(card.Settings, export.Setting{Name: name, Value: value})
	}
	source := func(name string, in step.Input) {
		if in.Set() {
			card.Sources = append(card.Sources, export.Setting{Name: name, Value: in.Artifact.Digest.String()})
		}
	}
	source("model", c.Model)
	source("ids", c.IDs)
	source("documents", c.Documents)
	for i, in := range c.Reports {
		source("report, "+c.Labels[i], in)
		var e model.Evaluation
		if err := inout.ReadJSON(x, in, &e); err != nil {
			return card, err
		}
		card.Parameters = e.Parameters
		card.Results = append(card.Results, resultOf(e, c.Labels[i]))
	}
	return card, nil
}

// resultOf is what a card shows of an evaluation.
func resultOf(e model.Evaluation, label string) export.Result {
	m := e.Percent.PostFiltered
	r := export.Result{Name: label, Scores: []export.Score{{Metric: "Hits@1", Value: m.Hits1}, {Metric: "Hits@10", Value: m.Hits10}, {Metric: "MRR@10", Value: m.MRR10}}}
	if invalid := cmp.Or(e.Percent.Invalid, e.Percent.InvalidBeam); invalid != nil {
		r.Scores = append(r.Scores, export.Score{Metric: model.InvalidMetric(e.Width), Value: *invalid})
	}
	return r
}

// specialTokens are the fields of config.json that generation_config.json repeats.
type specialTokens struct {
	Start     *int64 `json:"decoder_start_token_id,omitempty"`
	BOS       *int64 `json:"bos_token_id,omitempty"`
	EOS       *int64 `json:"eos_token_id,omitempty"`
	Pad       *int64 `json:"pad_token_id,omitempty"`
	ForcedBOS *int64 `json:"forced_bos_token_id,omitempty"`
	ForcedEOS *int64 `json:"forced_eos_token_id,omitempty"`
}

// ofConfig reads a model's config.json: its tokens, and whether the output matrix is another one than the embedding.
func ofConfig(x *step.IO, of step.Input) (specialTokens, bool, error) {
	config := struct {
		specialTokens
		Tied bool `json:"tie_word_embeddings"`
	}{Tied: true}
	text, err := model.File(x, of, "config.json")
	if err != nil || text == nil {
		return specialTokens{}, false, err
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return specialTokens{}, false, step.Permanent(fmt.Errorf("config.json: %w", err))
	}
	return config.specialTokens, !config.Tied, nil
}

// tokenizerConfig is tokenizer_config.json of a tokenizer that its tokenizer.json says all of.
type tokenizerConfig struct {
	Class         string `json:"tokenizer_class"`
	MaxLength     int    `json:"model_max_length"`
	CleanUpSpaces bool   `json:"clean_up_tokenization_spaces"`
	BOS           string `json:"bos_token,omitempty"`
	EOS           string `json:"eos_token,omitempty"`
	Pad           string `json:"pad_token,omitempty"`
	Unknown       string `json:"unk_token,omitempty"`
}

// exportTokenizer writes tokenizer.json plain, and tokenizer_config.json by the names that
// it gives the model's special tokens.
func exportTokenizer(x *step.IO, in step.Inputs, special specialTokens) error {
	var plain []byte
	tokenizer, err := inout.OpenTokenizer(x, in, "tokenizer", func(path string) (*tokenize.File, error) {
		return tokenize.Load(path, func(data []byte) (file *tokenize.File, err error) {
			file, plain, err = tokenize.Parse(data)
			return file, err
		})
	})
	if err != nil {
		return err
	}
	name := func(id *int64) string {
		for _, a := range tokenizer.AddedTokens {
			if id != nil && int64(a.ID) == *id {
				return a.Content
			}
		}
		return ""
	}
	config := tokenizerConfig{Class: "PreTrainedTokenizerFast", MaxLength: 512, CleanUpSpaces: true,
		BOS: name(special.BOS), EOS: name(special.EOS), Pad: name(special.Pad), Unknown: name(tokenizer.Model.UnknownID)}
	if config.EOS == "" || config.Pad == "" {
		return step.Permanent(errors.New("tokenizer: its added_tokens do not have the tokens that config.json names as eos_token_id and pad_token_id: it is not the model's"))
	}
	if err := inout.WriteFile(x, "files", "tokenizer.json", func(w io.Writer) error { _, err := w.Write(plain); return err }); err != nil {
		return err
	}
	return writeJSONFile(x, "tokenizer_config.json", config)
}
