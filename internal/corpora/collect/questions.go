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
func Splits() []nq.Split { return nq.Splits }

// Options say what becomes of queries and documents.
type Options struct {
	Policy
	AllKnown bool // a judgment whose query or document is nowhere is an error; else it is counted

	Relevant int32                // the least grade of a relevant document
	Draw     map[nq.Split]float64 // share of dev and of test that is drawn; the rest is train
	DrawFrom nq.Split             // the split whose queries are drawn; "": queries without a split
	Seed     uint64

	Limit  map[nq.Split]int // most queries of a split, drawn by Seed; absent: all
	Others int              // most unwanted documents, drawn by Seed; 0: all

	Keep      Keep
	Normalize func(title string) string // documents are merged if their normalized titles are equal; nil: never

	Drop   bool // documents whose text has no words are left out
	Bodies bool // documents with only a title are empty
	Form   Form
}

// Keep says which documents are wanted, and whether others are taken too.
type Keep string

const (
	KeepAll      Keep = "all"      // all are taken; judged documents are wanted. "" is the same
	KeepJudged   Keep = "judged"   // only judged documents
	KeepRelevant Keep = "relevant" // only documents that are relevant to a query
)

// all reports whether unwanted documents are taken too.
func (k Keep) all() bool { return k != KeepJudged && k != KeepRelevant }

// Form says what a model reads of a document.
type Form string

const (
	Content      Form = "content"       // the unchanged text
	TitleContent Form = "title_content" // title and text, trimmed, with a blank between them
)

type question struct {
	name, text string
	split      nq.Split // "": none so far
	file       int32    // place in Questions.files
	judged     []judgment
	relevant   bool // a judged document is relevant
	inline     bool // its records have judgments
	left       bool // not drawn by a limit
}

// asked reports whether a query belongs to the collection.
func (have *question) asked() bool { return have.split != "" && !have.left }

// judgment is a document, by its number among judged documents, with its grade.
type judgment struct{ document, grade int32 }

// Questions are the queries of all splits. Memory is the size of their names, texts and judgments.
type Questions struct {
	options Options
	list    []*question
	byName  map[string]int32
	named   dedup.NameTable    // judged documents
	grades  map[[2]int32]int32 // by query and document
	files   []string

	Report QuestionsReport
}

// QuestionsReport says what was read of queries and judgments, and what became of them.
type QuestionsReport struct {
	Queries   Counts `json:"queries"`
	Judgments Counts `json:"judgments"` // lines of files of judgments

	Unknown  int64 `json:"judgments_without_query"`  // judgments whose query is in no file
	Repeated int64 `json:"repeated_judgments"`       // repeats of a judgment with the same grade; it counts once
	Unjudged int64 `json:"queries_without_judgment"` // queries without a split and a relevant document
	Drawn    int64 `json:"queries_drawn"`            // queries whose split was drawn
	Assumed  int64 `json:"queries_of_no_split"`      // queries without a split that became test queries

	Train SplitReport `json:"train"`
	Dev   SplitReport `json:"dev"`
	Test  SplitReport `json:"test"`
}

type SplitReport struct {
	Queries      int64 `json:"queries"`
	Judgments    int64 `json:"judgments"`                      // judgments of taken documents
	Irrelevant   int64 `json:"not_relevant_judgments"`         // of these, below Options.Relevant
	Missing      int64 `json:"judgments_without_document"`     // judgments whose document is in no file
	Dropped      int64 `json:"judgments_of_dropped_documents"` // judgments whose document was left out
	Unjudged     int64 `json:"queries_without_judgment"`       // queries without a relevant document
	Documentless int64 `json:"queries_without_document"`       // queries whose relevant documents are all missing or left out
	Asked        int64 `json:"queries_asked"`                  // remaining queries
	Several      int64 `json:"queries_of_several_documents"`   // of these, with several relevant documents
	Targets      int64 `json:"documents"`                      // relevant to a remaining query
	InTrain      int64 `json:"queries_in_train_too"`           // in dev and test: a train query has the same words

	NotDrawn int64 `json:"queries_not_drawn,omitempty"`             // left out by a limit
	Merged   int64 `json:"judgments_of_merged_documents,omitempty"` // document merged with another of the same query
}

func (r *QuestionsReport) Of(split nq.Split) *SplitReport {
	switch split {
	case nq.Train:
		return &r.Train
	case nq.Dev:
		return &r.Dev
	}
	return &r.Test
}

func NewQuestions(o Options) *Questions {
	return &Questions{options: o, byName: map[string]int32{}, grades: map[[2]int32]int32{}}
}

// ReadQueries reads a file's queries, of the given split or of the split that a record or its judgments name.
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
	at, ok := q.byName[name]
	if ok {
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

// ReadJudgments reads a file's judgments, after all queries; split, if given, becomes the queries' split.
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
