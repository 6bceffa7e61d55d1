package retrieve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/corpora/docid"
	"github.com/redsi/redsi/internal/ranking/retrieve/stopping"
	"github.com/redsi/redsi/internal/system/testkit"
)

var assignment = strings.Repeat("5", 64)

func TestSettings(t *testing.T) {
	for _, kind := range docid.Kinds() {
		for _, in := range []Inputs{{MaxInput: 64, MaxQuery: 1}, {32, 64, "index:", "query:", true}} {
			want, folder := Settings{kind, 109_739, assignment, in, Search{stopping.Never, ByText}}, t.TempDir()
			testkit.None(t, want.Write(folder))
			testkit.Of(t, want)(ReadSettings(folder))
		}
	}
}

func TestSettingsErrors(t *testing.T) {
	in := Inputs{MaxInput: 32, MaxQuery: 64}
	for _, c := range []struct {
		settings Settings
		want     string
	}{
		{Settings{"unheard", 1, assignment, in, DefaultSearch()}, `identifiers "unheard"; one of [atomic naive semantic residual title keyword other]`},
		{Settings{docid.KindNaive, 0, assignment, in, DefaultSearch()}, "documents 0"},
		{Settings{docid.KindNaive, 1, assignment, Inputs{MaxQuery: 64}, DefaultSearch()}, "max_input 0; at least 1"},
		{Settings{docid.KindNaive, 1, assignment, Inputs{MaxInput: 32}, DefaultSearch()}, "max_query 0; at least 1"},
		{Settings{docid.KindNaive, 1, "", in, DefaultSearch()}, `assignment ""; a SHA-256`},
		{Settings{docid.KindNaive, 1, assignment, in, Search{"soon", ByText}}, `search: early stopping "soon"; it is "full", "heuristic" or "never"`},
		{Settings{docid.KindNaive, 1, assignment, in, Search{stopping.Full, "sight"}}, `search: validity "sight"; it is "tokens" or "text"`},
	} {
		folder := t.TempDir()
		testkit.ErrSays(t, c.settings.Write(folder), c.want)
		testkit.Some(t, testkit.Err(os.Stat(filepath.Join(folder, SettingsFile))), c.settings)
	}
	for text, want := range map[string]string{
		"":                        "no redsi.json",
		"{":                       "redsi.json: unexpected end",
		"{}":                      `redsi.json: identifiers ""`,
		`{"identifiers":"naive"}`: "redsi.json: documents 0",
		`{"identifiers":"naive","documents":3,"assignment":"` + assignment + `"}`: "redsi.json: search: early stopping",
		`{"identifiers":"naive","documents":"3"}`:                                 "redsi.json: json",
	} {
		testkit.ErrSays(t, testkit.Err(ParseSettings([]byte(text))), want)
	}
	testkit.ErrSays(t, testkit.Err(ReadSettings(t.TempDir())), "train it with a train step")
	file := filepath.Join(t.TempDir(), "file")
	testkit.Write(t, file, "")
	testkit.Some(t, testkit.Err(ReadSettings(file)), "a file was read as a folder")
	if err := (Settings{docid.KindNaive, 1, assignment, in, DefaultSearch()}).Write(file); err == nil {
		t.Error("settings were written into a file")
	}
}

func TestSettingsMatch(t *testing.T) {
	set := func(kind docid.Kind, documents ...string) *docid.Set {
		s := &docid.Set{Kind: kind}
		for i, d := range documents {
			s.Identifiers = append(s.Identifiers, docid.Identifier{Document: d, Text: d + "'s", Tokens: []int32{int32(i), 1}})
		}
		return s
	}
	settings := testkit.Value(SettingsFor(set(docid.KindNaive, "a", "b"), Inputs{MaxInput: 32, MaxQuery: 64}))(t)
	for _, c := range []struct {
		ids  *docid.Set
		want string
	}{
		{set(docid.KindNaive, "a", "b"), ""},
		{set(docid.KindNaive, "b", "a"), "another assignment"},
		{set(docid.KindNaive, "a"), "ids are naive identifiers of 1"},
		{set(docid.KindSemantic, "a", "b"), "ids are semantic identifiers of 2"},
	} {
		if err := settings.Match(c.ids); c.want != "" {
			testkit.ErrSays(t, err, c.want)
		} else {
			testkit.None(t, err)
		}
	}
}
