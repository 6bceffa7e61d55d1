package kinds_test

import (
	"testing"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/testkit"
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

func TestOverlap(t *testing.T) {
	l := newLocal(t)
	queries := l.lines(overlapQueries)
	corpus := l.corpusOf(overlapTexts)
	r := l.made("overlap", map[string]any{"queries": queries, "corpus": corpus, "document_shingle": int64(1)})
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
		testkit.Deep(t, string(l.bytes(r.Outputs[output])), want, output)
	}
	l.says(r.Outputs["report"], map[string]any{
		"queries.train": 2.0, "between.test_train.exact": 1.0, "between.test_train.normalised": 1.0, "between.test_train.near": 0.0, "between.test_train.any": 2.0,
		"between.test_train.percent": 50.0, "between.test_train.same_target": 1.0,
		"documents.documents": 6.0, "documents.exact": 1.0, "documents.normalised": 1.0, "documents.near": 1.0, "documents.any": 3.0,
		"verbatim.queries": 5.0, "verbatim.short": 3.0, "verbatim.standing": 4.0, "verbatim.relevant": 1.0, "verbatim.splits.dev": 2.0,
	})
	l.counted(r, map[string]int64{"test_in_train": 2, "dev_in_train": 1, "test_in_dev": 1})

	r = l.made("overlap", map[string]any{"queries": queries, "threshold": 0.7})
	testkit.Says(t, string(l.bytes(r.Outputs["query_pairs"])), "to the other side\tnear\t0.777778\ttrue\n")
	l.says(r.Outputs["report"], map[string]any{"documents": nil, "verbatim": nil, "between.test_dev.near": 1.0})
	testkit.Is(t, string(l.bytes(r.Outputs["document_pairs"])), "doc\tother_doc\tclass\tsimilarity\n")
	bad := l.lines([]dedup.Query{{ExampleID: 7, Split: "validation", Question: "q"}})
	testkit.ErrSays(t, testkit.Err(l.do("overlap", map[string]any{"queries": bad})), `queries: line 1: example 7 is of split "validation"`)
}
