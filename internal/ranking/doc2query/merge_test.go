package doc2query

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
)

func lines(t *testing.T, queries []dedup.Query) *bytes.Reader {
	t.Helper()
	var b bytes.Buffer
	err := dedup.WriteLines(&b, func(put func(any) error) error {
		for _, q := range queries {
			if err := put(&q); err != nil {
				return err
			}
		}
		return nil
	})
	testkit.None(t, err)
	return bytes.NewReader(b.Bytes())
}

func merged(t *testing.T, m *Merge, own []dedup.Query, generated ...Generated) ([]dedup.Query, error) {
	t.Helper()
	if err := m.Own(lines(t, own)); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := m.Write(&b, lines(t, own), func(yield func(Generated) error) error {
		for _, g := range generated {
			if err := yield(g); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []dedup.Query
	err = dedup.ReadQueries(&b, -1, func(q *dedup.Query) error {
		out = append(out, *q)
		return nil
	})
	return out, err
}

var own = []dedup.Query{
	{ExampleID: 7, Split: nq.Train, Question: "who made it", Doc: 0, Name: "q7"},
	{ExampleID: 9, Split: nq.Dev, Question: "Where is the sea?", Doc: 1, Grade: 2},
	{ExampleID: 3, Split: nq.Test, Question: "what is a hill", Doc: 2},
	{ExampleID: 3, Split: nq.Test, Question: "what is a hill", Doc: 0},
}

// TestMerge: own queries stay as they are, and generated ones follow, except queries that
// leak, repeat or say nothing.
func TestMerge(t *testing.T) {
	generated := []Generated{
		{0, 0, "who  made\nit?"}, {0, 1, "a sea"}, {0, 2, "A sea."}, {0, 3, "where is THE sea"},
		{1, 0, "a sea"}, {1, 1, " "}, {1, 2, "?!"}, {1, 3, "who made it"},
		{3, 0, "what is a hill"},
	}
	m := &Merge{KeepTrain: true, Documents: 4}
	got := testkit.Value(merged(t, m, own, generated...))(t)
	want := append(append([]dedup.Query{}, own...),
		dedup.Query{ExampleID: 10, Split: nq.Train, Question: "a sea", Doc: 0, Name: "generated-0-1"},
		dedup.Query{ExampleID: 11, Split: nq.Train, Question: "a sea", Doc: 1, Name: "generated-1-0"},
		dedup.Query{ExampleID: 12, Split: nq.Train, Question: "who made it", Doc: 1, Name: "generated-1-3"})
	testkit.Deep(t, got, want)
	if r := (Report{Documents: 4, WithQueries: 2, Generated: 9, Kept: 3, Leaks: 2, Repeated: 1, InTraining: 1, Empty: 2, Shared: 1, MeanWords: 7.0 / 3,
		Train: 1, Evaluation: 3, Examples: []Examples{{0, []string{"a sea"}}, {1, []string{"a sea", "who made it"}}},
		Leaked: []string{"where is THE sea", "what is a hill"}, words: 7}); !reflect.DeepEqual(m.Report, r) {
		t.Errorf("%+v\nwant %+v", m.Report, r)
	}

	m = &Merge{Documents: 4}
	alone := testkit.Value(merged(t, m, own, generated...))(t)
	if len(alone) != 7 || alone[3].Question != "who made it?" || alone[3].Doc != 0 || alone[3].ExampleID != 10 || m.LeftOut != 1 || m.Train != 0 {
		t.Errorf("without own training queries: %+v, %+v", alone, m.Report)
	}

	again, err := merged(t, &Merge{KeepTrain: true, Documents: 4}, got, Generated{2, 0, "a new one"})
	if err != nil || again[len(again)-1].Name != "generated2-2-0" || again[len(again)-1].ExampleID != 13 {
		t.Errorf("generated for what was generated: %+v, %v", again, err)
	}
}

func TestMergeErrors(t *testing.T) {
	for _, c := range []struct {
		own       []dedup.Query
		generated []Generated
		want      string
	}{
		{own, []Generated{{4, 0, "a"}}, "document 4 of 4"},
		{own, []Generated{{2, 0, "a"}, {1, 0, "b"}}, "document 1 come after queries of document 2"},
		{[]dedup.Query{{ExampleID: math.MaxInt64, Split: nq.Train, Question: "a"}}, []Generated{{1, 0, "b"}}, "no number is left"},
		{[]dedup.Query{{ExampleID: 1, Split: nq.Train, Question: "a", Doc: 9}}, nil, "target 9 of 4"},
	} {
		testkit.ErrSays(t, testkit.Err(merged(t, &Merge{Documents: 4}, c.own, c.generated...)), c.want)
	}
}

func TestForm(t *testing.T) {
	for query, want := range map[string]string{
		"Who's  the\tBEST?": "who s the best", "東京 とは": "東京 とは", "हिन्दी?": "हिन्दी", " … ": "", "season-8": "season 8",
	} {
		testkit.Is(t, Form(query), want, query)
	}
}

func TestSettings(t *testing.T) {
	s := Settings{MaxInput: 64, MaxQuery: 32, Prefix: "ask:", Lowercase: true}
	text := testkit.Value(s.Write())(t)
	testkit.Of(t, s)(ParseSettings(text))
	testkit.Of(t, Settings{MaxInput: 512, MaxQuery: 64})(ParseSettings(nil))
	for _, bad := range []string{"{", `{"max_input":0,"max_query":1}`, `{"max_input":1}`} {
		testkit.ErrSays(t, testkit.Err(ParseSettings([]byte(bad))), SettingsFile)
	}
}
