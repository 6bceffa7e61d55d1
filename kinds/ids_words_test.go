package kinds_test

import (
	"bytes"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/corpus"
	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/model/subword"
	"github.com/redsi/redsi/internal/system/errtest"
	"github.com/redsi/redsi/step"
)

// titled is a collection of documents with keys D0, D1, … and these titles, and a corpus
// with texts of them.
func (l *local) titled(titles, texts []string) (documents, texted step.Input) {
	l.t.Helper()
	var docs []dedup.Document
	var b bytes.Buffer
	w, err := corpus.NewWriter(&b)
	errtest.None(l.t, err)
	for i, title := range titles {
		docs = append(docs, dedup.Document{Doc: int32(i), Key: "D" + string(rune('0'+i)), ExampleID: int64(i), Split: nq.Train, Title: title})
		errtest.None(l.t, w.Write(corpus.Document{Doc: int32(i), Text: texts[i]}))
	}
	errtest.None(l.t, w.Close())
	return l.blob("nq/documents", compressed(l.t, docs)), l.blob("nq/corpus", b.Bytes())
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
			tok, err := subword.LoadSubword(c.tokenizer)
			errtest.None(t, err)
			defer tok.Close()
			config := map[string]any{"documents": documents, "corpus": texts, "tokenizer": l.blob("files", readFile(t, c.tokenizer)), "words": int64(3)}
			set, err := l.readIDs("title_ids", config)
			errtest.None(t, err)
			around := tok.WithSpecialTokens(nil)
			for _, id := range set.Identifiers {
				if spelled := strings.TrimSpace(tok.Decode(id.Tokens, true)); spelled != id.Text || len(id.Tokens) > 24+len(around) || id.Tokens[len(id.Tokens)-1] != around[len(around)-1] {
					t.Errorf("document %s: %q is tokens %v, which spell %q", id.Document, id.Text, id.Tokens, spelled)
				}
			}
			if got := textsOf(set); c.want != nil && !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			lower := maps.Clone(config)
			lower["lowercase"] = true
			if set, err = l.readIDs("title_ids", lower); err != nil || set.Identifiers[0].Text != "the walking dead (season 8)" {
				t.Errorf("lower-cased: %q, %v", textsOf(set)[0], err)
			}
			delete(config, "corpus")
			errtest.Says(t, errtest.Of(l.readIDs("title_ids", config)), `document 3, "D3", has no title that the tokenizer can spell: give corpus`)
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
	set, err := l.readIDs("keyword_ids", config)
	errtest.None(t, err)
	if want := []string{"sea deep", "high hill", "hill the", "untitled"}; set.Kind != docid.KindKeyword || !slices.Equal(textsOf(set), want) {
		t.Errorf("%q, want %q", textsOf(set), want)
	}
	for _, texts := range [][]string{make([]string, 3), make([]string, 5)} {
		config["corpus"] = l.corpusOf(texts)
		if _, err := l.readIDs("keyword_ids", config); err == nil || !strings.Contains(err.Error(), "corpus lacks some of the 4 documents") {
			t.Errorf("%d texts: error %v", len(texts), err)
		}
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
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, id := range set.Identifiers {
			if id.Document != want[i].Document || id.Text != want[i].Text || !slices.Equal(id.Tokens, want[i].Tokens) {
				t.Errorf("%s: %+v, want %+v", name, id, want[i])
			}
		}
	}
	// What is exported comes in again.
	titles, err := l.readIDs("title_ids", map[string]any{"documents": documents, "tokenizer": tokenizer})
	errtest.None(t, err)
	exported, err := l.do("export", map[string]any{"documents": documents, "queries": l.lines([]dedup.Query{{Split: nq.Train, Question: "a"}}),
		"identifiers": map[string]any{"title": l.set(titles)}, "formats": []any{"jsonl"}, "ids": "key", "name": "X", "key": "exact", "origin": "other"})
	errtest.None(t, err)
	again, err := brought(map[string]any{"files": step.In(exported.Outputs["files"]), "file": "identifiers/*.jsonl.gz", "type": "title"}, "unread")
	if err != nil || !reflect.DeepEqual(again, titles) {
		t.Errorf("%+v, %v, want %+v", again, err, titles)
	}
	errtest.Says(t, errtest.Of(brought(map[string]any{"file": "other"}, "D0\ta\n")), `no file is named "other"; there are ["ids-a"]`)

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
		errtest.Says(t, errtest.Of(brought(c.change, c.files...)), c.want)
	}
}
