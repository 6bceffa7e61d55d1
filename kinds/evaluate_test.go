package kinds_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/model/seq2seq"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/model/t5"
	"github.com/redsi/redsi/internal/model/tensor"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

type percentages = map[string]float64

type rulePercentages struct {
	Raw          percentages `json:"raw"`
	PostFiltered percentages `json:"post_filtered"`
	Invalid      *float64    `json:"invalid_40"`
	InvalidBeam  *float64    `json:"invalid_beam"`
}

// scored is what kind score says of a run, of all its queries and of those whose document has a training query or has none.
type scored struct {
	Percent percentages
	Groups  map[string]struct {
		Percent percentages
		Queries int
	}
}

func (e *asked) scored(out map[string]string, mode string, width int) (s scored, invalid float64) {
	e.t.Helper()
	groups, trained := "", map[int32]bool{}
	for _, q := range e.queries {
		trained[q.Doc] = trained[q.Doc] || q.Split == nq.Train
	}
	for _, q := range e.queries {
		if q.Split == nq.Dev {
			groups += fmt.Sprintf("%d\t%v\n", q.ExampleID, trained[q.Doc])
		}
	}
	res, err := e.do("score", map[string]any{"run": e.blob("trec/run", []byte(out["run"])), "qrels": e.blob("trec/qrels", []byte(out["qrels"])), "mode": mode,
		"measures": []any{"Hits@1", "Hits@10", "MRR@10", fmt.Sprintf("Invalid@%d", min(width, 40))}, "groups": []any{e.blob("file", []byte(groups))}})
	testkit.None(e.t, err)
	e.json(res.Outputs["report"], &s)
	name := fmt.Sprintf("invalid_%d", min(width, 40))
	invalid = s.Percent[name]
	delete(s.Percent, name)
	for _, g := range s.Groups {
		delete(g.Percent, name)
	}
	return s, invalid
}

// check wants of a report what kind score says of its run.
func (e *asked) check(out map[string]string, width int, decoding string) (r evaluationReport) {
	e.t.Helper()
	testkit.None(e.t, json.Unmarshal([]byte(out["report"]), &r))
	raw, share := e.scored(out, "raw", width)
	want, _ := e.scored(out, "post_filtered", width)
	p, seen, unseen := r.Percent, want.Groups["true"], want.Groups["false"]
	if !maps.Equal(p.Raw, raw.Percent) || !maps.Equal(p.PostFiltered, want.Percent) || !maps.Equal(p.Seen, seen.Percent) || !maps.Equal(p.Unseen, unseen.Percent) ||
		r.SeenQueries != seen.Queries || r.UnseenQueries != unseen.Queries {
		e.t.Errorf("report %s of a run with %+v, post-filtered %+v", out["report"], raw, want)
	}
	if r.Queries != len(questions) || r.Width != width || r.Decoding != decoding || r.Identifiers != string(e.ids.Kind) || r.Parameters < 16*askedRows {
		e.t.Errorf("report %s", out["report"])
	}
	invalid, other := p.Invalid, p.InvalidBeam
	if width < 40 { // Invalid@40 is not known
		invalid, other = other, invalid
	}
	if can := e.ids.Kind.CanBeInvalid(); other != nil || can != (invalid != nil) || can && *invalid != share || !can && share != 0 {
		e.t.Errorf("report %s; the run has %v invalid", out["report"], share)
	}
	if rule := map[string]rulePercentages{"tokens": p.ByTokens, "text": p.ByText}[r.Validity]; !reflect.DeepEqual(rule, p.rulePercentages) {
		e.t.Errorf("by %s: %+v, as a whole %+v", r.Validity, rule, p.rulePercentages)
	}
	var qrels string
	for i, d := range targets {
		qrels += fmt.Sprintf("%d 0 %d 1\n", 1000+i, d)
	}
	if out["qrels"] != qrels {
		e.t.Errorf("qrels\n%swant\n%s", out["qrels"], qrels)
	}
	return r
}

type evaluationReport struct {
	Percent struct {
		rulePercentages
		ByTokens rulePercentages `json:"by_tokens"`
		ByText   rulePercentages `json:"by_text"`
		Seen     percentages     `json:"seen"`
		Unseen   percentages     `json:"unseen"`
	} `json:"percent"`
	Queries       int    `json:"queries"`
	SeenQueries   int    `json:"seen_queries"`
	UnseenQueries int    `json:"unseen_queries"`
	Width         int    `json:"width"`
	Decoding      string `json:"decoding"`
	EarlyStopping string `json:"early_stopping"`
	Validity      string `json:"validity"`
	Identifiers   string `json:"identifiers"`
	Parameters    int64  `json:"parameters"`
}

// TestEvaluate: reports are what their runs say.
func TestEvaluate(t *testing.T) {
	e := newAsked(t, docid.KindNaive)
	free := e.check(e.evaluate(nil), 40, "unconstrained")
	if *free.Percent.Invalid == 0 || *free.Percent.Invalid == 100 || maps.Equal(free.Percent.Raw, free.Percent.PostFiltered) || free.Percent.Raw["hits_10"] == 0 {
		t.Errorf("the model is no example of invalid hypotheses: %+v", free)
	}
	trie := e.check(e.evaluate(map[string]any{"decoding": "constrained"}), 40, "constrained")
	if *trie.Percent.Invalid != 0 || !maps.Equal(trie.Percent.Raw, trie.Percent.PostFiltered) {
		t.Errorf("constrained: %+v", trie)
	}
	if few := e.check(e.evaluate(map[string]any{"beams": int64(5)}), 5, "unconstrained"); *few.Percent.InvalidBeam == 0 {
		t.Errorf("5 beams: %+v", few)
	}
	half, eighths := e.evaluate(map[string]any{"precision": "bf16"}), e.evaluate(map[string]any{"precision": "int8"})
	e.check(half, 40, "unconstrained")
	e.check(eighths, 40, "unconstrained")
	e.ran = nil
	if same := e.evaluate(map[string]any{"precision": "fp32"}); half["run"] == same["run"] || eighths["run"] == same["run"] || half["run"] == eighths["run"] || len(e.ran) != 0 {
		t.Errorf("bf16 or int8 changes nothing, or fp32 has another key: %v", e.ran)
	}
	e.check(e.evaluate(map[string]any{"beams": int64(50), "length_penalty": 0.5, "early_stopping": "never"}), 50, "unconstrained")

	e = newAsked(t, docid.KindAtomic)
	first := e.evaluate(nil)
	e.check(first, 40, "unconstrained")
	e.ran = nil
	second := e.evaluate(map[string]any{"decoding": "constrained", "early_stopping": "never", "validity": "text"})
	e.check(second, 40, "constrained")
	testkit.That(t, len(e.ran) == 0 && first["run"] == second["run"], "an atomic search was done again", e.ran)
}

// repeatedDocument is in a run what names a document for another time.
var repeatedDocument = regexp.MustCompile(` Q0 !\d+=\d+ `)

// TestEvaluateValidity: both rules are in each report, the parts are shared, and what the model
// was trained with is the default.
func TestEvaluateValidity(t *testing.T) {
	e := newAsked(t, docid.KindNaive)
	tokens := e.check(e.evaluate(nil), 40, "unconstrained")
	e.ran = nil
	out := e.evaluate(map[string]any{"validity": "text"})
	text := e.check(out, 40, "unconstrained")
	testkit.Is(t, len(e.ran), 0, "the search was done again", e.ran)
	if tokens.Validity != "tokens" || text.Validity != "text" || tokens.EarlyStopping != "full" ||
		!reflect.DeepEqual(tokens.Percent.ByTokens, text.Percent.ByTokens) || !reflect.DeepEqual(tokens.Percent.ByText, text.Percent.ByText) {
		t.Errorf("by tokens %+v, by text %+v", tokens, text)
	}
	if *text.Percent.ByText.Invalid >= *text.Percent.ByTokens.Invalid || maps.Equal(text.Percent.ByText.PostFiltered, text.Percent.ByTokens.PostFiltered) || !repeatedDocument.MatchString(out["run"]) {
		t.Errorf("the model is no example of what only its text makes valid: %+v", text)
	}
	settings := testkit.Value(retrieve.SettingsFor(e.ids, retrieve.Inputs{MaxInput: 12, MaxQuery: 11, Lowercase: true}))(t)
	settings.Search = retrieve.Search{EarlyStopping: stopping.Heuristic, Validity: retrieve.ByText}
	own := e.check(e.evaluate(map[string]any{"model": e.with(settings)}), 40, "unconstrained")
	testkit.Is(t, own.Validity, "text", "a model of other settings", own)
	testkit.Is(t, own.EarlyStopping, "heuristic", "a model of other settings", own)
	other := e.check(e.evaluate(map[string]any{"model": e.with(settings), "validity": "tokens", "early_stopping": "full"}), 40, "unconstrained")
	testkit.Deep(t, other, tokens, "as the step says")
}

// TestEvaluateParts: parts make the bytes of the whole, and only those that have no
// result run.
func TestEvaluateParts(t *testing.T) {
	for _, kind := range []docid.Kind{docid.KindNaive, docid.KindAtomic} {
		e := newAsked(t, kind)
		whole := e.evaluate(map[string]any{"batch": int64(1)})
		testkit.Deep(t, e.ran, []string{"evaluate_shard 1 of 1"}, kind)
		cut := map[string]any{"batch": int64(1), "shard": int64(3)}
		split := testkit.Value(e.Split(context.Background(), e.request("evaluate", e.changed(cut))))(t)
		parts, err := split.Rows(nil)
		if err != nil || len(parts) != 3 {
			t.Fatalf("%s: parts %+v, %v", kind, parts, err)
		}
		for _, i := range []int{2, 0} {
			testkit.None(t, testkit.Err(e.Execute(context.Background(), workflows.ExecuteRequest{Key: parts[i].Key, Task: parts[i].Task, Address: parts[i].Label})))
		}
		e.ran = nil
		joined := e.evaluate(cut)
		testkit.Deep(t, e.ran, []string{"evaluate_shard 2 of 3"}, kind)
		for _, output := range []string{"run", "qrels", "report"} {
			if joined[output] != whole[output] || whole[output] == "" {
				t.Errorf("%s: %s of parts\n%s\nof the whole\n%s", kind, output, joined[output], whole[output])
			}
		}
		if together := e.evaluate(map[string]any{"batch": int64(4), "shard": int64(5)}); together["report"] != whole["report"] {
			t.Errorf("%s: batches of 4 give %s, single queries %s", kind, together["report"], whole["report"])
		}
	}
}

// TestEvaluateNames: an export of the collection has the same judgments.
func TestEvaluateNames(t *testing.T) {
	e := newAsked(t, docid.KindAtomic)
	documents := make([]dedup.Document, len(e.ids.Identifiers))
	for i := range documents {
		documents[i] = dedup.Document{Doc: int32(i), Key: fmt.Sprintf("t:%d", i), Title: fmt.Sprint("page ", i), Split: nq.Train, ExampleID: int64(i), Train: 1}
	}
	res, err := e.do("export", map[string]any{"documents": e.blob("nq/documents", compressed(t, documents)), "queries": e.config["queries"],
		"name": "toy", "key": "h1", "formats": []any{"trec"}, "origin": "generated"})
	testkit.None(t, err)
	exported, _ := res.Outputs["files"].File("trec/qrels.dev.txt")
	if want, got := e.text(exported.Digest), e.evaluate(nil)["qrels"]; got != want || strings.Count(got, "\n") != len(questions) {
		t.Errorf("qrels\n%sexported\n%s", got, want)
	}
}

// TestEvaluateErrors: what does not belong together is told before and while it is
// used.
func TestEvaluateErrors(t *testing.T) {
	e := newAsked(t, docid.KindNaive)
	atomic := newAsked(t, docid.KindAtomic).ids
	fewer := &docid.Set{Kind: e.ids.Kind, Identifiers: e.ids.Identifiers[:29]}
	query := dedup.Query{ExampleID: 7, Split: nq.Dev, Question: "who"}
	beyond := query
	beyond.Doc = 30
	bare := edited(t, e.config["model"], func(files []artifacts.File) []artifacts.File {
		return slices.DeleteFunc(files, func(f artifacts.File) bool { return f.Name == retrieve.SettingsFile })
	})
	ruined := edited(t, e.config["model"], func(files []artifacts.File) []artifacts.File {
		for i, f := range files {
			if f.Name == "model.safetensors" {
				weights := e.bytes(artifacts.Artifact{Digest: f.Digest})
				copy(weights[len(weights)-4:], "\x00\x00\xc0\x7f") // NaN, in the decoder's last norm
				spoiled := e.blobOf("", weights)
				files[i].Digest, files[i].Size = spoiled.Digest, spoiled.Size
			}
		}
		return files
	})
	large := &docid.Set{Kind: docid.KindNaive, Identifiers: slices.Clone(e.ids.Identifiers)}
	large.Identifiers[0].Tokens = []int32{40_000, 1}
	for _, c := range []struct {
		change map[string]any
		want   string
	}{
		{map[string]any{"ids": e.set(atomic)}, "trained on naive identifiers of 30 documents, ids are atomic identifiers of 30: give the ids"},
		{map[string]any{"ids": e.set(fewer)}, "naive identifiers of 30 documents, ids are naive identifiers of 29"},
		{map[string]any{"model": step.In(bare)}, "the model has no redsi.json"},
		{map[string]any{"queries": e.lines(nil)}, "there are no dev queries to evaluate"},
		{map[string]any{"queries": e.lines([]dedup.Query{query, query})}, "dev example 7 occurs twice"},
		{map[string]any{"queries": e.lines([]dedup.Query{beyond})}, "queries: line 1: dev example 7: document 30 of queries is not one of the 30 documents of ids"},
		{map[string]any{"ids": e.set(large), "model": e.trainedOn(large), "decoding": "constrained"}, "token 40000 of an identifier is outside the model's vocabulary of 3072"},
		{map[string]any{"device": "cuda:77"}, `device "cuda:77"`},
		{map[string]any{"device": "cuda:77", "precision": "int8"}, "precision: int8 is computed on processors only"},
		{map[string]any{"model": step.In(ruined)}, "the model's scores are not numbers"},
		{map[string]any{"model": step.In(ruined), "decoding": "constrained"}, "the model's scores are not numbers"},
		{map[string]any{"tokenizer": e.blob("files", []byte("{}"))}, "tokenizer: its model is"},
	} {
		testkit.ErrSays(t, testkit.Err(e.try(c.change)), c.want)
	}
	config := changed(e.config, map[string]any{"tokenizer": []any{e.config["tokenizer"]}})
	mistakes(t, "evaluate", config, map[string]map[string]any{
		"beams": {"beams": int64(0)}, "shard": {"shard": int64(0)}, "batch": {"batch": int64(-1)}, "device": {"device": "tpu"}, "split": {"split": "eval"},
		"decoding": {"decoding": "greedy"}, "early_stopping": {"early_stopping": "soon"},
	})
}

// asked is a hand-made collection of 30 documents with 8 development queries, whose models
// have the first 3,000 of T5's tokens.
type asked struct {
	*local
	ids     *docid.Set
	queries []dedup.Query
	config  map[string]any // of an evaluate step
}

// questions are of all sorts: an evaluation must not fail at any.
var questions = []string{
	"who sings does he love me with reba", "", " \t ", "when did the Walking Dead season 8 come out", "\x00",
	"ärmelkanal 東京 \u200b \U0001F600", strings.Repeat("how many ", 400), "what is 14 + 19",
}

// targets are chosen for what the model of naive identifiers ranks: high, low and
// not at all.
var targets = []int32{7, 19, 14, 9, 15, 27, 0, 1}

const askedRows = 3072 // of a model's embedding

func newAsked(t *testing.T, kind docid.Kind) *asked {
	t.Helper()
	e := &asked{local: newLocal(t)}
	tokenizer := fewerTokens(t, 3000)
	names := make([]string, 30)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	var err error
	if kind == docid.KindAtomic {
		e.ids, err = docid.Atomic(names, askedRows)
	} else {
		tok, loadErr := subword.LoadSubword(tokenizer)
		testkit.None(t, loadErr)
		defer tok.Close()
		e.ids, err = docid.Naive(names, 40, 42, docid.GeneratorPCG, tok.EncodeBatch)
	}
	testkit.None(t, err)
	for i, q := range questions {
		e.queries = append(e.queries,
			dedup.Query{ExampleID: int64(1000 + i), Split: nq.Dev, Question: q, Doc: targets[i]},
			dedup.Query{ExampleID: int64(2000 + i), Split: nq.Train, Question: q, Doc: 1})
	}
	e.config = map[string]any{
		"model": e.model(e.ids), "ids": e.set(e.ids), "queries": e.lines(e.queries),
		"tokenizer": e.blob("files", readFile(t, tokenizer)), "device": "cpu",
	}
	return e
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b := testkit.Value(os.ReadFile(path))(t)
	return b
}

func (l *local) set(ids *docid.Set) step.Input {
	l.t.Helper()
	var b bytes.Buffer
	testkit.None(l.t, ids.Write(&b))
	return l.blob("docid/ids", b.Bytes())
}

func (l *local) lines(queries []dedup.Query) step.Input {
	l.t.Helper()
	return l.blob("nq/queries", compressed(l.t, queries))
}

// compressed is JSON lines, as dedup stores them.
func compressed[T any](t *testing.T, values []T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := testkit.Value(zstd.NewWriter(&b))(t)
	e := json.NewEncoder(z)
	for _, v := range values {
		testkit.None(t, e.Encode(v))
	}
	testkit.None(t, z.Close())
	return b.Bytes()
}

// model has random weights, but prefers the tokens of identifiers and </s>, so that
// some of its hypotheses are identifiers: each embedding has one large coordinate,
// which is what </s> is scored by.
func (l *local) model(ids *docid.Set) step.Input {
	l.t.Helper()
	c := t5.Defaults()
	c.VocabSize = askedRows
	c.DModel, c.DKV, c.DFF, c.NumLayers, c.NumDecoderLayers, c.NumHeads, c.TieEmbeddings = 16, 8, 32, 1, 1, 2, false
	m, err := seq2seq.Init(c, 11, tensor.CPU)
	testkit.None(l.t, err)
	defer m.Close()
	if ids.Kind == docid.KindAtomic {
		_, last := ids.TokenRange() // some documents take rows that there are
		testkit.None(l.t, m.Extend(int64(last)+1-c.VocabSize, 12))
	} else {
		scale, ends, large := make([]float32, c.VocabSize), make([]float32, c.VocabSize*c.DModel), make([]float32, c.DModel)
		for _, id := range ids.Identifiers {
			for _, token := range id.Tokens {
				scale[token] = 0.2
			}
		}
		large[0], ends[c.EOSToken*c.DModel] = 4, 12
		err = tensor.Run(func(s *tensor.Scope) {
			tensor.NoGrad(func() {
				embedding, head := m.Param("shared.weight"), m.Param("lm_head.weight")
				s.AddInPlace(embedding, s.FromFloat32s(large, tensor.CPU, 1, c.DModel))
				s.CopyInPlace(head, s.Mul(head, s.FromFloat32s(scale, tensor.CPU, c.VocabSize, 1)))
				s.AddInPlace(head, s.FromFloat32s(ends, tensor.CPU, c.VocabSize, c.DModel))
			})
		})
		testkit.None(l.t, err)
	}
	folder := l.t.TempDir()
	testkit.None(l.t, m.Save(folder))
	settings := testkit.Value(retrieve.SettingsFor(ids, retrieve.Inputs{MaxInput: 12, MaxQuery: 11, Lowercase: true}))(l.t)
	testkit.None(l.t, settings.Write(folder))
	return l.folder("dsi/model", folder, seq2seq.ConfigFile, seq2seq.WeightsFile, retrieve.SettingsFile)
}

// trainedOn is the model as if it had been trained on ids.
func (e *asked) trainedOn(ids *docid.Set) step.Input {
	e.t.Helper()
	settings := testkit.Value(retrieve.SettingsFor(ids, retrieve.Inputs{MaxInput: 12, MaxQuery: 11, Lowercase: true}))(e.t)
	return e.with(settings)
}

// with is the model with other settings.
func (e *asked) with(settings retrieve.Settings) step.Input {
	e.t.Helper()
	text := testkit.Value(json.Marshal(settings))(e.t)
	b := e.blob("", text).Artifact
	return step.In(edited(e.t, e.config["model"], func(files []artifacts.File) []artifacts.File {
		for i, f := range files {
			if f.Name == retrieve.SettingsFile {
				files[i].Digest, files[i].Size = b.Digest, b.Size
			}
		}
		return files
	}))
}

// changed is the evaluate step with some attributes changed.
func (e *asked) changed(change map[string]any) map[string]any {
	config := maps.Clone(e.config)
	maps.Copy(config, change)
	return config
}

// try runs the step: its outputs as text.
func (e *asked) try(change map[string]any) (map[string]string, error) {
	e.t.Helper()
	res, err := e.inParts("evaluate", e.changed(change))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, a := range res.Outputs {
		out[name] = e.text(a.Digest)
	}
	return out, nil
}

func (e *asked) evaluate(change map[string]any) map[string]string {
	e.t.Helper()
	out := testkit.Value(e.try(change))(e.t)
	return out
}
