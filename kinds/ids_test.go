package kinds_test

import (
	"bytes"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/npy"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/system/testkit"
	"github.com/redsi/redsi/step"
)

// TestIdentifierOptions: what the attributes of kinds of identifiers say reaches them.
func TestIdentifierOptions(t *testing.T) {
	l := newLocal(t)
	titles := make([]string, 30)
	vectors := npy.Matrix{Rows: len(titles), Cols: 1, Data: make([]float32, len(titles))}
	for i := range titles {
		titles[i] = strconv.Itoa(i)
		vectors.Data[i] = float32(i * i % 17)
	}
	var saved bytes.Buffer
	testkit.None(t, npy.Write(&saved, vectors))
	documents, embeddings := l.collectionOf(titles...), l.blob("docid/embeddings", saved.Bytes())
	tokenizer := l.blob("files", readFile(t, fewerTokens(t, 3000)))
	made := func(kind string, config map[string]any) (*docid.Set, error) {
		config["documents"] = documents
		if kind != "atomic_ids" {
			config["tokenizer"] = tokenizer
		}
		if kind == "semantic_ids" {
			config["embeddings"], config["leaf_size"], config["clusters"] = embeddings, int64(2), int64(3)
		}
		return l.readIDs(kind, config)
	}
	texts := func(kind string, config map[string]any) string {
		t.Helper()
		s := testkit.Value(made(kind, config))(t)
		return strings.Join(textsOf(s), " ")
	}

	for _, c := range []struct {
		config map[string]any
		last   docid.Identifier
	}{
		{map[string]any{}, docid.Identifier{Document: "29", Text: "<doc_29>", Tokens: []int32{32_129}}},
		{map[string]any{"eos": true}, docid.Identifier{Document: "29", Text: "<doc_29>", Tokens: []int32{32_129, 1}}},
		{map[string]any{"eos": true, "eos_token": int64(2), "first_token": int64(50_265)}, docid.Identifier{Document: "29", Text: "<doc_29>", Tokens: []int32{50_294, 2}}},
	} {
		s := testkit.Value(made("atomic_ids", c.config))(t)
		if got := s.Identifiers[29]; got.Text != c.last.Text || !slices.Equal(got.Tokens, c.last.Tokens) {
			t.Errorf("atomic: %+v, want %+v", got, c.last)
		}
	}

	python := texts("naive_ids", map[string]any{"times": 1.01}) // 30.3: 31 numbers
	if python != texts("naive_ids", map[string]any{"budget": int64(31)}) || python == texts("naive_ids", map[string]any{"budget": int64(30)}) {
		t.Error("naive: 1.01 x 30 documents are not 31 numbers")
	}
	if pcg := texts("naive_ids", map[string]any{"budget": int64(31), "generator": "pcg"}); pcg == python {
		t.Error("naive: both generators give the same numbers")
	}

	derived := texts("semantic_ids", map[string]any{})
	if derived == texts("semantic_ids", map[string]any{"node_seeds": "same"}) {
		t.Error("semantic: seeds of nodes change nothing")
	}
	for _, config := range []map[string]any{{"precision": "float32"}, {"n_init": int64(5)}, {"max_iter": int64(1)}, {"tol": 0.0}} {
		texts("semantic_ids", config)
	}

	mistakes(t, "atomic_ids", map[string]any{"documents": documents}, map[string]map[string]any{
		"first_token: want 0 to 2147483647, got the number -1":         {"first_token": int64(-1)},
		"eos_token: want a token id below first_token":                 {"eos_token": int64(32_100)},
		"first_token: want 0 to 2147483647, got the number 2147483648": {"first_token": int64(1) << 31},
	})
	config := map[string]any{"documents": documents, "tokenizer": []any{tokenizer}, "budget": int64(30)}
	mistakes(t, "naive_ids", config, map[string]map[string]any{"generator: ": {"generator": "numpy"}})
	delete(config, "budget")
	config["embeddings"] = embeddings
	mistakes(t, "semantic_ids", config, map[string]map[string]any{
		"seed: ": {"seed": int64(1) << 32}, "n_init: ": {"n_init": int64(0)}, "max_iter: ": {"max_iter": int64(0)}, "tol: ": {"tol": -1.0},
		"node_seeds: ": {"node_seeds": "random"}, "precision: ": {"precision": "float16"},
	})
}

// titled is a collection of documents with keys D0, D1, … and these titles, and a corpus
// with texts of them.
func (l *local) titled(titles, texts []string) (documents, texted step.Input) {
	l.t.Helper()
	var docs []dedup.Document
	for i, title := range titles {
		docs = append(docs, dedup.Document{Doc: int32(i), Key: "D" + string(rune('0'+i)), ExampleID: int64(i), Split: nq.Train, Title: title})
	}
	return l.blob("nq/documents", compressed(l.t, docs)), l.corpusOf(texts)
}

func (l *local) readIDs(kind string, config map[string]any) (*docid.Set, error) {
	l.t.Helper()
	res, err := l.do(kind, config)
	if err != nil {
		return nil, err
	}
	return docid.Read(bytes.NewReader(l.bytes(res.Outputs["ids"])))
}

func textsOf(s *docid.Set) []string {
	var all []string
	for _, id := range s.Identifiers {
		all = append(all, id.Text)
	}
	return all
}

// TestTitleIDs: with the tokenizers of T5, which has no Ä, and BART, the text of an identifier
// is what its tokens spell, whatever the title.
func TestTitleIDs(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	documents, texts := l.titled(
		[]string{"The Walking Dead (season 8)", "  Ärmelkanal \t–  Tunnel ", "The Walking Dead (season 8)", "", "東京", "</s> <pad>", "Ångström ﬁne", strings.Repeat("long title ", 40)},
		[]string{"a", "b", "c", "one two three four", " ", "hill top", "d", "e"})
	for name, c := range map[string]struct {
		tokenizer string
		want      []string // of T5
	}{
		"t5": {filepath.Join("..", "assets", "tokenizers", "t5-tokenizer.json.gz"), []string{"The Walking Dead (season 8)", "rmelkanal – Tunnel",
			"The Walking Dead (season 8) (2)", "one two three", "untitled", "hill top", "ngström fine", strings.TrimSpace(strings.Repeat("long title ", 12))}},
		"bart": {filepath.Join("..", "internal", "model", "subword", "testdata", "bart-tokenizer.json"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			tok := testkit.Value(subword.LoadSubword(c.tokenizer))(t)
			defer tok.Close()
			config := map[string]any{"documents": documents, "corpus": texts, "tokenizer": l.blob("files", readFile(t, c.tokenizer)), "words": int64(3)}
			set, err := l.readIDs("title_ids", config)
			testkit.None(t, err)
			around := tok.WithSpecialTokens(nil)
			for _, id := range set.Identifiers {
				if spelled := strings.TrimSpace(tok.Decode(id.Tokens, true)); spelled != id.Text || len(id.Tokens) > 24+len(around) || id.Tokens[len(id.Tokens)-1] != around[len(around)-1] {
					t.Errorf("document %s: %q is tokens %v, which spell %q", id.Document, id.Text, id.Tokens, spelled)
				}
			}
			if got := textsOf(set); c.want != nil && !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if set, err = l.readIDs("title_ids", changed(config, map[string]any{"lowercase": true})); err != nil || set.Identifiers[0].Text != "the walking dead (season 8)" {
				t.Errorf("lower-cased: %q, %v", textsOf(set)[0], err)
			}
			delete(config, "corpus")
			l.refuses("title_ids", config, `document 3, "D3", has no title that the tokenizer can spell: give corpus`)
		})
	}
}

// TestKeywordIDs: words that no other document has come first; what is left without words
// is untitled, and a corpus of another collection is refused.
func TestKeywordIDs(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	documents, texts := l.titled(make([]string, 4), []string{"The sea is deep. The sea!", "The hill is high", "The hill, the hill", " "})
	tokenizer := l.blob("files", readFile(t, filepath.Join("..", "assets", "tokenizers", "t5-tokenizer.json.gz")))
	config := map[string]any{"documents": documents, "corpus": texts, "tokenizer": tokenizer, "words": int64(2)}
	set := testkit.Value(l.readIDs("keyword_ids", config))(t)
	if want := []string{"sea deep", "high hill", "hill the", "untitled"}; set.Kind != docid.KindKeyword || !slices.Equal(textsOf(set), want) {
		t.Errorf("%q, want %q", textsOf(set), want)
	}
	for _, texts := range [][]string{make([]string, 3), make([]string, 5)} {
		l.refuses("keyword_ids", changed(config, map[string]any{"corpus": l.corpusOf(texts)}), "corpus lacks some of the 4 documents")
	}
}

// TestImportIDs: identifiers are imported from JSON lines or columns, and errors name
// the file and the line.
func TestImportIDs(t *testing.T) {
	t.Parallel()
	l := newLocal(t)
	documents, _ := l.titled([]string{"a", "b", "c"}, make([]string, 3))
	tokenizer := l.blob("files", readFile(t, fewerTokens(t, 10_000)))
	brought := func(change map[string]any, files ...string) (*docid.Set, error) {
		named := map[string][]byte{}
		for i, f := range files {
			named["ids-"+string(rune('a'+i))] = []byte(f)
		}
		config := map[string]any{"documents": documents, "tokenizer": tokenizer, "files": l.tree("files", named)}
		maps.Copy(config, change)
		return l.readIDs("import_ids", config)
	}
	want := []docid.Identifier{{Document: "0", Text: "deep sea", Tokens: []int32{1659, 2805, 1}}, {Document: "1", Text: "hill", Tokens: []int32{9956, 1}}, {Document: "2", Text: "141913", Tokens: []int32{968, 2294, 2368, 1}}}
	for name, c := range map[string]struct {
		change map[string]any
		files  []string
	}{
		"JSON lines": {nil, []string{`{"docid":"D2","text":"141913"}` + "\n\n" + `{"document":"D0","text":"deep sea","tokens":[1659,2805,1]}` + "\r\n", `{"_id":"D1","tokens":[9956]}`}},
		"columns":    {nil, []string{"D2\t141913\nD0\tdeep sea\t1659 2805\nD1\t\t9956 1\n"}},
		"numbers":    {map[string]any{"names": "number", "type": "title"}, []string{`{"doc_id":2,"identifier":"141913"}` + "\n" + `{"doc_id":"0","identifier":"deep sea"}` + "\n" + `{"doc_id":1,"identifier":"hill"}`}},
	} {
		set, err := brought(c.change, c.files...)
		testkit.None(t, err, name)
		for i, id := range set.Identifiers {
			if id.Document != want[i].Document || id.Text != want[i].Text || !slices.Equal(id.Tokens, want[i].Tokens) {
				t.Errorf("%s: %+v, want %+v", name, id, want[i])
			}
		}
	}
	// What is exported comes in again.
	titles := testkit.Value(l.readIDs("title_ids", map[string]any{"documents": documents, "tokenizer": tokenizer}))(t)
	exported, err := l.do("export", map[string]any{"documents": documents, "queries": l.lines([]dedup.Query{{Split: nq.Train, Question: "a"}}),
		"identifiers": map[string]any{"title": l.set(titles)}, "formats": []any{"jsonl"}, "ids": "key", "name": "X", "key": "exact", "origin": "other"})
	testkit.None(t, err)
	again, err := brought(map[string]any{"files": step.In(exported.Outputs["files"]), "file": "identifiers/*.jsonl.gz", "type": "title"}, "unread")
	testkit.That(t, err == nil && reflect.DeepEqual(again, titles), again, err, "want", titles)
	testkit.ErrSays(t, testkit.Err(brought(map[string]any{"file": "other"}, "D0\ta\n")), `no file is named "other"; there are ["ids-a"]`)

	for _, c := range []struct {
		change map[string]any
		files  []string
		want   string
	}{
		{nil, []string{"D0\ta\nD1 b\n"}, "ids-a, line 2: want a document's name, a tab"},
		{nil, []string{"D0\ta\t5 x\n"}, `ids-a, line 1: token "x" is not a token id`},
		{nil, []string{"{\"text\":\"a\"}\n"}, "ids-a, line 1: names no document"},
		{nil, []string{"{\"id\":[1]}\n"}, "field id is neither a text nor a number"},
		{nil, []string{"{\"id\":\"D0\",\"text\":5}\n"}, "ids-a, line 1: field text is not a text"},
		{nil, []string{"{\"id\":\"D0\",\"tokens\":[\"a\"]}\n"}, "ids-a, line 1: field tokens is not the expected list"},
		{nil, []string{"{\"id\":\n"}, "ids-a, line 1: is not a JSON object"},
		{nil, []string{"D0\ta\n", "D1\tb\nD0\tc\n"}, `ids-b, line 2: document "D0" has an identifier at ids-a, line 1 already`},
		{nil, []string{"D0\ta\n", "D7\tb\n"}, `ids-b, line 1: "D7" is not one of the 3 documents`},
		{nil, []string{"D0\ta\t40000\n"}, "token 40000 is outside of the vocabulary of 10000"},
		{nil, []string{"D0\t\n"}, `document "D0": it has neither text nor tokens`},
		{nil, []string{"D0\t東京\n"}, "has no tokens for all of"},
		{map[string]any{"vocabulary": int64(10_028)}, []string{"D0\t\t10010\n"}, "its tokens spell nothing"},
		{nil, []string{""}, `3 of 3 documents have no identifier, the first is "D0"`},
	} {
		testkit.ErrSays(t, testkit.Err(brought(c.change, c.files...)), c.want)
	}
}

// TestTokensOfTheirOwn: tokens that the tokenizer does not have are shown as what they
// stand for in the identifier.
func TestTokensOfTheirOwn(t *testing.T) {
	f := newTraining(t, newLocal(t))
	for _, kind := range []docid.Kind{docid.KindAtomic, docid.KindResidual} {
		ids := f.ids(kind)
		res := f.made("id_tokens", map[string]any{"tokenizer": f.config["tokenizer"], "ids": f.set(ids), "documents": []any{int64(0), int64(7)}})
		var report struct {
			Examples []struct{ Pieces []string }
		}
		f.json(res.Outputs["report"], &report)
		for i, place := range []int{0, 7} {
			want := strings.Split(ids.Identifiers[place].Text, "-")
			if !kind.OneToken() {
				want = append(want, "</s>")
			}
			testkit.Deep(t, report.Examples[i].Pieces, want, kind)
		}
	}
}
