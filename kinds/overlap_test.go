package kinds_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/errtest"
)

// overlapQueries have a leak of each class, and a tab.
var overlapQueries = []dedup.Query{
	{ExampleID: 0, Split: nq.Train, Question: "who wrote the first book of it", Doc: 0, Name: "q-a"},
	{ExampleID: 0, Split: nq.Train, Question: "who wrote the first book of it", Doc: 1, Name: "q-a"},
	{ExampleID: 1, Split: nq.Train, Question: "where is\tthe river", Doc: 2},
	{ExampleID: 2, Split: nq.Dev, Question: "Who wrote the first book of it?", Doc: 1},
	{ExampleID: 3, Split: nq.Dev, Question: "how far is it to the other side", Doc: 3},
	{ExampleID: 4, Split: nq.Test, Question: "who wrote the first book of it", Doc: 3},
	{ExampleID: 5, Split: nq.Test, Question: "how far is it to the other sides", Doc: 3},
	{ExampleID: 6, Split: nq.Test, Question: "where is the river", Doc: 2},
	{ExampleID: 7, Split: nq.Test, Question: "quite another", Doc: 0},
}

var overlapTexts = []string{
	"Somebody asked who wrote the first book of it and nobody knew the answer to that.",
	"A long text of some words that says nothing of what is asked at all, and then it ends.",
	"a long text of some words -- that says nothing of what is asked at all; and then it ends!",
	"A long text of some words that says nothing of what is asked at all, and then it ends well.",
	"A long text of some words that says nothing of what is asked at all, and then it ends.",
	"How far is it (to the other side)? Nobody knows.",
}

// overlapFound is what the test reads of the report.
type overlapFound struct {
	Queries map[string]int
	Between map[string]struct {
		Exact, Normalised, Near, Any int
		Percent                      float64
		SameTarget                   int `json:"same_target"`
	}
	Left      int64 `json:"pairs_left_out"`
	Documents *struct{ Documents, Exact, Normalised, Near, Any int }
	Verbatim  *struct {
		Queries, Short, Standing, Relevant int
		Splits                             map[string]int
	}
}

func TestOverlap(t *testing.T) {
	l := newLocal(t)
	queries := l.lines(overlapQueries)
	corpus := l.corpusOf(overlapTexts)
	r, err := l.do("overlap", map[string]any{"queries": queries, "corpus": corpus, "document_shingle": int64(1)})
	errtest.None(t, err)
	l.declared("overlap", "overlap", l.Registry.Lookup("overlap").Outputs, r)
	for output, want := range map[string]string{
		"query_pairs": "split\tid\tname\tquery\tother_split\tother_id\tother_name\tother_query\tclass\tsimilarity\tsame_target\n" +
			"dev\t2\t\tWho wrote the first book of it?\ttrain\t0\tq-a\twho wrote the first book of it\tnormalised\t1\ttrue\n" +
			"test\t4\t\twho wrote the first book of it\ttrain\t0\tq-a\twho wrote the first book of it\texact\t1\tfalse\n" +
			"test\t4\t\twho wrote the first book of it\tdev\t2\t\tWho wrote the first book of it?\tnormalised\t1\tfalse\n" +
			"test\t6\t\twhere is the river\ttrain\t1\t\twhere is\\tthe river\tnormalised\t1\ttrue\n",
		"document_pairs": "doc\tother_doc\tclass\tsimilarity\n2\t1\tnormalised\t1\n3\t1\tnear\t0.947368\n4\t1\texact\t1\n",
		"verbatim": "split\tid\tname\tquery\tdoc\tsame_target\tdocuments\n" +
			"train\t0\tq-a\twho wrote the first book of it\t0\ttrue\t1\n" +
			"dev\t2\t\tWho wrote the first book of it?\t0\tfalse\t1\n" +
			"dev\t3\t\thow far is it to the other side\t5\tfalse\t1\n" +
			"test\t4\t\twho wrote the first book of it\t0\tfalse\t1\n",
	} {
		if diff := cmp.Diff(want, string(l.bytes(r.Outputs[output]))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", output, diff)
		}
	}
	var found overlapFound
	l.json(r.Outputs["report"], &found)
	test := found.Between["test_train"]
	if test.Exact != 1 || test.Normalised != 1 || test.Near != 0 || test.Any != 2 || test.Percent != 50 || test.SameTarget != 1 || found.Queries["train"] != 2 {
		t.Errorf("%+v", found)
	}
	if d := found.Documents; d.Documents != 6 || d.Exact != 1 || d.Normalised != 1 || d.Near != 1 || d.Any != 3 {
		t.Errorf("%+v", d)
	}
	if v := found.Verbatim; v.Queries != 5 || v.Short != 3 || v.Standing != 4 || v.Relevant != 1 || v.Splits["dev"] != 2 {
		t.Errorf("%+v", v)
	}
	if r.Counts["test_in_train"] != 2 || r.Counts["dev_in_train"] != 1 || r.Counts["test_in_dev"] != 1 {
		t.Errorf("%v", r.Counts)
	}

	r, err = l.do("overlap", map[string]any{"queries": queries, "threshold": 0.7})
	errtest.None(t, err)
	if s := string(l.bytes(r.Outputs["query_pairs"])); !strings.Contains(s, "to the other side\tnear\t0.777778\ttrue\n") {
		t.Error(s)
	}
	found = overlapFound{}
	if l.json(r.Outputs["report"], &found); found.Documents != nil || found.Verbatim != nil || found.Between["test_dev"].Near != 1 {
		t.Errorf("%+v", found)
	}
	if s := string(l.bytes(r.Outputs["document_pairs"])); s != "doc\tother_doc\tclass\tsimilarity\n" {
		t.Error(s)
	}
}

func TestOverlapRefuses(t *testing.T) {
	l := newLocal(t)
	bad := l.lines([]dedup.Query{{ExampleID: 7, Split: "validation", Question: "q"}})
	errtest.Says(t, errtest.Of(l.do("overlap", map[string]any{"queries": bad})), `queries: line 1: example 7 is of split "validation"`)
}
