package collect

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
)

// Splits lists the splits that a collection may have.
func Splits() []nq.Split { return []nq.Split{nq.Train, nq.Dev, nq.Test} }

// Options say what becomes of queries and documents.
type Options struct {
	Policy
	AllKnown bool // a judgment whose query or document is nowhere is an error; else it is counted

	Relevant int32                // the least grade of a relevant document
	Draw     map[nq.Split]float64 // share of dev and of test that is drawn; the rest is train
	DrawFrom nq.Split             // which queries are drawn from; "": those of no split
	Seed     uint64

	Limit  map[nq.Split]int // queries of a split at most, drawn by Seed; not in it: all
	Others int              // documents at most that are not wanted, drawn by Seed; 0: all

	Keep      Keep
	Normalize func(title string) string // documents are one if their titles are equal then; nil: never

	Drop   bool // documents whose text has no words are left out
	Bodies bool // a title is no text: documents without one beside it are empty
	Form   Form
}

// Keep says which documents are taken beside those that are wanted, and which are wanted.
type Keep string

// The ways to keep documents.
const (
	KeepAll      Keep = "all"      // all; those that a judgment names are wanted. "" is the same
	KeepJudged   Keep = "judged"   // those alone
	KeepRelevant Keep = "relevant" // those alone that are relevant to a query
)

// all reports whether documents are taken that are not wanted.
func (k Keep) all() bool { return k != KeepJudged && k != KeepRelevant }

// Form says what a model reads of a document.
type Form string

// The forms.
const (
	Content      Form = "content"       // the text as it is
	TitleContent Form = "title_content" // title and text, trimmed, with a blank between them
)

// question is a query and what is judged for it.
type question struct {
	name, text string
	split      nq.Split // "": not known yet
	file       int32    // that it was read from
	judged     []judgment
	relevant   bool // one of judged is, by its grade
	inline     bool // its own records have judgments
	left       bool // not drawn
}

// asked reports whether a query is one of the collection's.
func (have *question) asked() bool { return have.split != "" && !have.left }

// judgment is a document, by its number among those that judgments name, with its grade.
type judgment struct{ document, grade int32 }

// Questions are the queries of all splits. Memory is that of their names, texts and judgments.
type Questions struct {
	options Options
	list    []*question
	byName  map[string]int32
	named   dedup.NameTable    // documents that judgments name
	grades  map[[2]int32]int32 // by query and document
	files   []string

	Report QuestionsReport
}

// QuestionsReport says what was read of queries and judgments, and what became of them.
type QuestionsReport struct {
	Queries   Counts `json:"queries"`
	Judgments Counts `json:"judgments"` // lines of files of judgments

	Unknown  int64 `json:"judgments_without_query"`  // whose query is in none of the files
	Repeated int64 `json:"repeated_judgments"`       // of one query and document, with the same grade; they count once
	Unjudged int64 `json:"queries_without_judgment"` // of no split, with no relevant document
	Drawn    int64 `json:"queries_drawn"`            // whose split was drawn
	Assumed  int64 `json:"queries_of_no_split"`      // that became test queries

	Train SplitReport `json:"train"`
	Dev   SplitReport `json:"dev"`
	Test  SplitReport `json:"test"`
}

// SplitReport is the same of a split.
type SplitReport struct {
	Queries      int64 `json:"queries"`                        // of this split
	Judgments    int64 `json:"judgments"`                      // of them, of documents that are taken
	Irrelevant   int64 `json:"not_relevant_judgments"`         // of those, below the grade of a relevant one
	Missing      int64 `json:"judgments_without_document"`     // whose document is in none of the files
	Dropped      int64 `json:"judgments_of_dropped_documents"` // whose document was left out
	Unjudged     int64 `json:"queries_without_judgment"`       // with no relevant document
	Documentless int64 `json:"queries_without_document"`       // all of whose relevant documents are missing or left out
	Asked        int64 `json:"queries_asked"`                  // those that remain
	Several      int64 `json:"queries_of_several_documents"`   // of them, those with more than one
	Targets      int64 `json:"documents"`                      // that are relevant to one of them
	InTrain      int64 `json:"queries_in_train_too"`           // of dev and test: a train query has the same words

	NotDrawn int64 `json:"queries_not_drawn,omitempty"`             // left out by a limit
	Merged   int64 `json:"judgments_of_merged_documents,omitempty"` // whose document is one with another of the same query's
}

// Of is the report of a split.
func (r *QuestionsReport) Of(split nq.Split) *SplitReport {
	switch split {
	case nq.Train:
		return &r.Train
	case nq.Dev:
		return &r.Dev
	}
	return &r.Test
}

// NewQuestions has none yet.
func NewQuestions(o Options) *Questions {
	return &Questions{options: o, byName: map[string]int32{}, grades: map[[2]int32]int32{}}
}

// ReadQueries reads a file's queries, of one split or of the split that a record or its judgments name.
func (q *Questions) ReadQueries(ctx context.Context, f File, how Reading, split nq.Split) (FileReport, error) {
	file := int32(len(q.files))
	q.files = append(q.files, f.Name)
	report, err := q.options.eachRecord(ctx, f, Queries, how, &q.Report.Queries, func(_ int64, r *record) error {
		return q.addQuery(r, split, file)
	})
	report.Split = split
	return report, err
}

func (q *Questions) addQuery(r *record, split nq.Split, file int32) error {
	name, err := cleanName("query", r.text(queryID))
	if err != nil {
		return err
	}
	text := r.text(queryText)
	if strings.TrimSpace(text) == "" {
		return nq.Faultf(nq.Unusable, "query %.60q has no words", name)
	}
	if said := r.text(querySplit); said != "" {
		of, ok := splitWords[strings.ToLower(said)]
		switch {
		case !ok:
			return nq.Faultf(nq.BadType, "split %.40q of query %.60q is none of train, dev and test", said, name)
		case split != "" && split != of:
			return nq.Faultf(nq.BadType, "query %.60q is of split %s in a file of split %s", name, of, split)
		}
		split = of
	}
	judged, err := q.inline(r)
	if err != nil {
		return err
	}
	at, again := q.byName[name]
	if again {
		// A query with several documents may have a record with each.
		have := q.list[at]
		if judged == nil || !have.inline || have.text != text || have.split != split || have.file != file {
			return nq.Faultf(nq.Duplicate, "query %.60q was there before, in %s", name, q.files[have.file])
		}
	} else {
		if len(q.list) == math.MaxInt32 {
			return fmt.Errorf("more than %d queries", math.MaxInt32)
		}
		at = int32(len(q.list))
		q.byName[name] = at
		q.list = append(q.list, &question{name: name, text: text, split: split, file: file, inline: judged != nil})
	}
	for _, j := range judged {
		if err := q.judge(at, j.name, j.grade); err != nil {
			return err
		}
	}
	return nil
}

// namedGrade is a judgment in the record of a query.
type namedGrade struct {
	name  string
	grade int32
}

func (q *Questions) inline(r *record) ([]namedGrade, error) {
	v := r.values[queryDocument]
	if v.grades == nil && len(v.texts) == 1 && v.texts[0] == "" {
		return nil, nil
	}
	var judged []namedGrade
	for i, document := range v.texts {
		name, err := cleanName("document", document)
		if err != nil {
			return nil, err
		}
		grade := int32(1)
		switch said := r.text(queryGrade); {
		case v.grades != nil:
			grade, err = parseGrade(v.grades[i])
		case said != "":
			grade, err = parseGrade(said)
		}
		if err != nil {
			return nil, err
		}
		judged = append(judged, namedGrade{name, grade})
	}
	return judged, nil
}

// ReadJudgments reads a file's judgments, after all queries; a split of theirs is their queries' too.
func (q *Questions) ReadJudgments(ctx context.Context, f File, how Reading, split nq.Split) (FileReport, error) {
	report, err := q.options.eachRecord(ctx, f, Judgments, how, &q.Report.Judgments, func(_ int64, r *record) error {
		return q.addJudgment(r, split)
	})
	report.Split = split
	return report, err
}

func (q *Questions) addJudgment(r *record, split nq.Split) error {
	name, err := cleanName("query", r.text(judgedQuery))
	if err != nil {
		return err
	}
	document, err := cleanName("document", r.text(judgedDocument))
	if err != nil {
		return err
	}
	grade := int32(1)
	if v := r.values[judgedGrade]; v.null || v.texts != nil {
		if grade, err = parseGrade(r.text(judgedGrade)); err != nil {
			return err
		}
	}
	at, ok := q.byName[name]
	switch {
	case !ok && q.options.AllKnown:
		return fmt.Errorf("the judgment of query %.60q and document %.60q: the query is in none of the files of queries", name, document)
	case !ok:
		q.Report.Unknown++
		return nil
	}
	have := q.list[at]
	switch {
	case split == "" || have.split == split:
	case have.split == "":
		have.split = split
	default:
		return nq.Faultf(nq.Duplicate, "query %.60q is of split %s and judged for split %s: a query is of one split", name, have.split, split)
	}
	return q.judge(at, document, grade)
}

// judge adds a judgment to a query.
func (q *Questions) judge(at int32, document string, grade int32) error {
	have := q.list[at]
	number, _ := q.named.Add(document)
	switch before, ok := q.grades[[2]int32{at, number}]; {
	case ok && before == grade:
		q.Report.Repeated++
		return nil
	case ok:
		return nq.Faultf(nq.Duplicate, "query %.60q and document %.60q are judged twice, with grades %d and %d", have.name, document, before, grade)
	}
	q.grades[[2]int32{at, number}] = grade
	have.judged = append(have.judged, judgment{number, grade})
	have.relevant = have.relevant || grade >= q.options.Relevant
	return nil
}
