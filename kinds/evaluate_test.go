package kinds_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/ranking/retrieve"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
	"github.com/redsi/redsi/workflows"
)

type percentages struct {
	Hits1  float64 `json:"hits_1"`
	Hits10 float64 `json:"hits_10"`
	MRR10  float64 `json:"mrr_10"`
}

func (p *percentages) add(rank, queries int) {
	share := 100 / float64(queries)
	if rank == 1 {
		p.Hits1 += share
	}
	if rank >= 1 && rank <= 10 {
		p.Hits10 += share
		p.MRR10 += share / float64(rank)
	}
}

func (p percentages) equals(o percentages) bool {
	return math.Abs(p.Hits1-o.Hits1)+math.Abs(p.Hits10-o.Hits10)+math.Abs(p.MRR10-o.MRR10) < 1e-9
}

type rulePercentages struct {
	Raw          percentages `json:"raw"`
	PostFiltered percentages `json:"post_filtered"`
	Invalid      *float64    `json:"invalid_40"`
	InvalidBeam  *float64    `json:"invalid_beam"`
}

type evaluationReport struct {
	Percent struct {
		rulePercentages
		ByTokens rulePercentages `json:"by_tokens"`
		ByText   rulePercentages `json:"by_text"`
		Seen     *percentages    `json:"seen"`
		Unseen   *percentages    `json:"unseen"`
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

// computed is the report that the run's lines give, without this project's metrics.
func (e *asked) computed(run string, width int) (r evaluationReport) {
	e.t.Helper()
	target, trained, seen := map[string]string{}, map[int32]bool{}, map[string]bool{}
	for _, q := range e.queries {
		if q.Split == nq.Train {
			trained[q.Doc] = true
		}
	}
	for _, q := range e.queries {
		if q.Split == nq.Dev {
			name := fmt.Sprint(q.ExampleID)
			target[name], seen[name] = fmt.Sprint(q.Doc), trained[q.Doc]
			if seen[name] {
				r.SeenQueries++
			}
		}
	}
	r.Queries, r.Width, r.UnseenQueries = len(target), width, len(target)-r.SeenQueries
	r.Percent.Seen, r.Percent.Unseen = &percentages{}, &percentages{}
	raw, filtered, invalid := map[string]int{}, map[string]int{}, 0 // lines of a query until now
	for line := range strings.Lines(run) {
		f := strings.Fields(line)
		if len(f) != 6 || target[f[0]] == "" {
			e.t.Fatalf("a line of the run: %q", line)
		}
		raw[f[0]]++
		if strings.HasPrefix(f[2], "!") {
			if raw[f[0]] <= 40 && !repeatedDocument.MatchString(line) {
				invalid++
			}
			continue
		}
		filtered[f[0]]++
		if f[2] == target[f[0]] {
			r.Percent.Raw.add(raw[f[0]], r.Queries)
			r.Percent.PostFiltered.add(filtered[f[0]], r.Queries)
			if seen[f[0]] {
				r.Percent.Seen.add(filtered[f[0]], r.SeenQueries)
			} else {
				r.Percent.Unseen.add(filtered[f[0]], r.UnseenQueries)
			}
		}
	}
	share := 100 * float64(invalid) / float64(min(width, 40)) / float64(r.Queries)
	r.Percent.Invalid = &share
	return r
}

func (e *asked) check(out map[string]string, width int, decoding string) (r evaluationReport) {
	e.t.Helper()
	errtest.None(e.t, json.Unmarshal([]byte(out["report"]), &r))
	want := e.computed(out["run"], width)
	if !r.Percent.Raw.equals(want.Percent.Raw) || !r.Percent.PostFiltered.equals(want.Percent.PostFiltered) || r.Queries != len(questions) ||
		r.Width != width || r.Decoding != decoding || r.Identifiers != string(e.ids.Kind) || r.Parameters < 16*askedRows {
		e.t.Errorf("report %s of a run that gives %+v", out["report"], want)
	}
	invalid, other := r.Percent.Invalid, r.Percent.InvalidBeam
	if width < 40 { // Invalid@40 is not known
		invalid, other = other, invalid
	}
	if !e.ids.Kind.CanBeInvalid() {
		if invalid != nil || other != nil || *want.Percent.Invalid != 0 {
			e.t.Errorf("identifiers that cannot be invalid: %s", out["report"])
		}
	} else if invalid == nil || other != nil || math.Abs(*invalid-*want.Percent.Invalid) > 1e-9 {
		e.t.Errorf("report %s; the run has %v invalid", out["report"], *want.Percent.Invalid)
	}

	if rule := map[string]rulePercentages{"tokens": r.Percent.ByTokens, "text": r.Percent.ByText}[r.Validity]; !reflect.DeepEqual(rule, r.Percent.rulePercentages) {
		e.t.Errorf("by %s: %+v, as a whole %+v", r.Validity, rule, r.Percent.rulePercentages)
	}
	if r.Percent.Seen == nil || r.Percent.Unseen == nil || !r.Percent.Seen.equals(*want.Percent.Seen) || !r.Percent.Unseen.equals(*want.Percent.Unseen) ||
		r.SeenQueries != want.SeenQueries || r.UnseenQueries != want.UnseenQueries {
		e.t.Errorf("report %s, want %+v and %+v of %d and %d", out["report"], want.Percent.Seen, want.Percent.Unseen, want.SeenQueries, want.UnseenQueries)
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

// TestEvaluate: reports are what their runs say.
func TestEvaluate(t *testing.T) {
	e := newAsked(t, docid.KindNaive)
	free := e.check(e.evaluate(nil), 40, "unconstrained")
	if *free.Percent.Invalid == 0 || *free.Percent.Invalid == 100 || free.Percent.Raw.equals(free.Percent.PostFiltered) || free.Percent.Raw.Hits10 == 0 {
		t.Errorf("the model is no example of invalid hypotheses: %+v", free)
	}
	trie := e.check(e.evaluate(map[string]any{"decoding": "constrained"}), 40, "constrained")
	if *trie.Percent.Invalid != 0 || !trie.Percent.Raw.equals(trie.Percent.PostFiltered) {
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
	if len(e.ran) != 0 || first["run"] != second["run"] {
		t.Errorf("an atomic search was done again: %v", e.ran)
	}
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
	if len(e.ran) != 0 {
		t.Errorf("the search was done again: %v", e.ran)
	}
	if tokens.Validity != "tokens" || text.Validity != "text" || tokens.EarlyStopping != "full" ||
		!reflect.DeepEqual(tokens.Percent.ByTokens, text.Percent.ByTokens) || !reflect.DeepEqual(tokens.Percent.ByText, text.Percent.ByText) {
		t.Errorf("by tokens %+v, by text %+v", tokens, text)
	}
	if *text.Percent.ByText.Invalid >= *text.Percent.ByTokens.Invalid || text.Percent.ByText.PostFiltered.equals(text.Percent.ByTokens.PostFiltered) || !repeatedDocument.MatchString(out["run"]) {
		t.Errorf("the model is no example of what only its text makes valid: %+v", text)
	}
	settings, err := retrieve.SettingsFor(e.ids, retrieve.Inputs{MaxInput: 12, MaxQuery: 11, Lowercase: true})
	errtest.None(t, err)
	settings.Search = retrieve.Search{EarlyStopping: stopping.Heuristic, Validity: retrieve.ByText}
	own := e.check(e.evaluate(map[string]any{"model": e.with(settings)}), 40, "unconstrained")
	if own.Validity != "text" || own.EarlyStopping != "heuristic" {
		t.Errorf("a model of other settings: %+v", own)
	}
	other := e.check(e.evaluate(map[string]any{"model": e.with(settings), "validity": "tokens", "early_stopping": "full"}), 40, "unconstrained")
	if !reflect.DeepEqual(other, tokens) {
		t.Errorf("as the step says %+v, want %+v", other, tokens)
	}
}

// TestEvaluateParts: parts make the bytes of the whole, and only those that have no
// result run.
func TestEvaluateParts(t *testing.T) {
	for _, kind := range []docid.Kind{docid.KindNaive, docid.KindAtomic} {
		e := newAsked(t, kind)
		whole := e.evaluate(map[string]any{"batch": int64(1)})
		if !slices.Equal(e.ran, []string{"evaluate_shard 1 of 1"}) {
			t.Errorf("%s: ran %v", kind, e.ran)
		}
		cut := map[string]any{"batch": int64(1), "shard": int64(3)}
		split, err := e.Split(context.Background(), e.request("evaluate", e.changed(cut)))
		errtest.None(t, err)
		parts, err := split.Rows(nil)
		if err != nil || len(parts) != 3 {
			t.Fatalf("%s: parts %+v, %v", kind, parts, err)
		}
		for _, i := range []int{2, 0} {
			errtest.None(t, errtest.Of(e.Execute(context.Background(), workflows.ExecuteRequest{Key: parts[i].Key, Task: parts[i].Task, Address: parts[i].Label})))
		}
		e.ran = nil
		joined := e.evaluate(cut)
		if !slices.Equal(e.ran, []string{"evaluate_shard 2 of 3"}) {
			t.Errorf("%s: ran %v", kind, e.ran)
		}
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
	errtest.None(t, err)
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
		if _, err := e.try(c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	for path, v := range map[string]any{"beams": int64(0), "shard": int64(0), "batch": int64(-1), "device": "tpu", "split": "eval", "decoding": "greedy", "early_stopping": "soon"} {
		config := map[string]any{path: v}
		for k, v := range e.config {
			if k != path {
				config[k] = v
			}
		}
		if _, err := step.NewTask(e.Registry.Lookup("evaluate"), config); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s = %v: %v", path, v, err)
		}
	}
}
