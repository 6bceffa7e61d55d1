package inout

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/corpora/trec"
	"github.com/redsi/redsi/step"
)

// Question is a query of a split with its relevant documents.
type Question struct {
	Name      string // as runs, qrels and exports by number have it: the decimal ExampleID
	Key       string // its name outside of redsi; Name if it has none
	Text      string
	Documents []int32 // numbers in the collection, in the order of the queries' lines
	Grades    []int   // of Documents, at least 1
	Seen      bool    // one of Documents has a training query
}

// ReadQuestions reads the queries of a split. The lines of one query, of which each has one of
// its documents, stand together. check, if not nil, sees each line of every split; what it
// returns is an error of the data.
func ReadQuestions(x *step.IO, in step.Input, split nq.Split, check func(*dedup.Query) error) ([]Question, error) {
	var out []Question
	asked, trained := map[int64]bool{}, map[int32]bool{}
	err := EachQuery(x, in, "queries", func(q *dedup.Query) error {
		if check != nil {
			if err := check(q); err != nil {
				return fmt.Errorf("%s example %d: %w", q.Split, q.ExampleID, err)
			}
		}
		if q.Split == nq.Train {
			trained[q.Doc] = true
		}
		if q.Split != split {
			return nil
		}
		name, grade := strconv.FormatInt(q.ExampleID, 10), max(1, int(q.Grade))
		if last := len(out) - 1; last >= 0 && out[last].Name == name && out[last].Text == q.Question && !slices.Contains(out[last].Documents, q.Doc) {
			out[last].Documents = append(out[last].Documents, q.Doc)
			out[last].Grades = append(out[last].Grades, grade)
			return nil
		}
		if asked[q.ExampleID] {
			return fmt.Errorf("%s example %d occurs twice: runs name queries by it", split, q.ExampleID)
		}
		asked[q.ExampleID] = true
		out = append(out, Question{Name: name, Key: cmp.Or(q.Name, name), Text: q.Question, Documents: []int32{q.Doc}, Grades: []int{grade}})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, step.Permanent(fmt.Errorf("there are no %s queries to evaluate", split))
	}
	for i := range out {
		out[i].Seen = slices.ContainsFunc(out[i].Documents, func(d int32) bool { return trained[d] })
	}
	return out, nil
}

// WriteQrels writes the questions' relevant documents, by number, as output "qrels", and
// returns them.
func WriteQrels(x *step.IO, questions []Question) (*trec.Judgments, error) {
	judged := &trec.Judgments{}
	for _, q := range questions {
		for i, d := range q.Documents {
			if err := judged.Judge(q.Name, strconv.Itoa(int(d)), q.Grades[i]); err != nil {
				return nil, step.Permanent(err)
			}
		}
	}
	return judged, Write(x, "qrels", judged.Write)
}

// RunTag is the last field of a run's lines.
const RunTag = "redsi"

// WriteRun writes rankings, best first and documents by number, as output "run", such that
// trec_eval, which orders equal scores by name, ranks them alike: trec.Untie.
func WriteRun(x *step.IO, rankings []trec.Ranking) error {
	return WriteRuns(x, func(put func([]trec.Ranking) error) error { return put(rankings) })
}

// WriteRuns is WriteRun piece by piece, each of queries that have no ranking yet.
func WriteRuns(x *step.IO, each func(put func([]trec.Ranking) error) error) error {
	return Write(x, "run", func(w io.Writer) error {
		return each(func(rankings []trec.Ranking) error {
			untied, moved := trec.Untie(rankings)
			x.Count("scores_untied", int64(moved))
			return step.Permanent(trec.WriteRun(w, RunTag, untied, trec.EncodeName))
		})
	})
}
