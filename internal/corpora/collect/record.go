package collect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
	"github.com/redsi/redsi/internal/system/words"
)

// Role says what a file holds.
type Role string

const (
	Documents Role = "documents"
	Queries   Role = "queries"
	Judgments Role = "qrels"
)

// column is a field of a role's records with its names in files, the likeliest first. A dot enters an object.
type column struct {
	name    string
	aliases []string
	needed  bool
}

// The columns of each role, by place in columnsOf.
const (
	docID = iota
	docTitle
	docText
	docURL
	docRevision
	docPage
)

const (
	queryID = iota
	queryText
	querySplit
	queryDocument
	queryGrade
)

const (
	judgedQuery = iota
	judgedDocument
	judgedGrade
)

var columnsOf = map[Role][]column{
	Documents: {
		docID:       {"id", []string{"id", "_id", "docid", "doc_id", "docno", "pid", "document_id"}, true},
		docTitle:    {"title", []string{"title", "headline"}, false},
		docText:     {"text", []string{"text", "contents", "content", "body", "passage", "segment", "abstract"}, true},
		docURL:      {"url", []string{"url", "metadata.url"}, false},
		docRevision: {"oldid", []string{"oldid", "metadata.oldid"}, false},
		docPage:     {"page_id", []string{"page_id", "metadata.page_id"}, false},
	},
	Queries: {
		queryID:       {"id", []string{"id", "_id", "qid", "query_id", "query-id", "topic_id"}, true},
		queryText:     {"text", []string{"text", "query", "question", "title", "topic"}, true},
		querySplit:    {"split", []string{"split"}, false},
		queryDocument: {"document", []string{"doc_id", "docid", "document", "documents", "relevant"}, false},
		queryGrade:    {"grade", []string{"grade", "relevance", "score"}, false},
	},
	Judgments: {
		judgedQuery:    {"query", []string{"query-id", "query_id", "qid", "query", "topic"}, true},
		judgedDocument: {"document", []string{"corpus-id", "corpus_id", "doc-id", "doc_id", "docid", "docno", "pid", "document"}, true},
		judgedGrade:    {"grade", []string{"score", "grade", "relevance", "rel", "label"}, false},
	},
}

// FieldNames are the names that Reading.Fields may map in files of a role.
func FieldNames(role Role) []string {
	return lists.Map(columnsOf[role], func(c column) string { return c.name })
}

// schema is the columns of a role with the names that a reading looks for.
type schema []column

// schemaOf returns the columns of a role with the user's names, where given, in place of the usual names.
func schemaOf(role Role, fields map[string]string) schema {
	s := slices.Clone(columnsOf[role])
	for i := range s {
		if name, ok := fields[s[i].name]; ok {
			s[i].aliases = []string{name}
		}
	}
	return s
}

// value is what a record has in a column.
type value struct {
	texts  []string // one, or the items of a list; nil: the record has no value
	grades []string // of texts, if the record gives grades
	list   bool
	null   bool // the record has an explicit null
}

// record is one line, element or row of a file.
type record struct {
	values []value  // by column
	names  []string // of its fields, for errors
}

// text returns a column's only text, or "".
func (r *record) text(column int) string {
	if v := r.values[column]; len(v.texts) == 1 {
		return v.texts[0]
	}
	return ""
}

// check reports a missing needed column (a null is ""), a list where one text should be, and unknown names of grades.
func (r *record) check(s schema, role Role) error {
	for i, c := range s {
		v := &r.values[i]
		if v.null && v.texts == nil && c.needed {
			v.texts = []string{""}
		}
		other := func(name string) bool { return name != "" && !s.names(name) } // and may be the grade's
		switch {
		case v.texts == nil && !v.null && (c.needed || role == Judgments && i == judgedGrade && len(c.aliases) > 1 && slices.ContainsFunc(r.names, other)):
			return nq.Faultf(nq.MissingField, "no %s: looked for %s, the fields are %s; say which it is by %s", c.name,
				strings.Join(c.aliases, ", "), cmp.Or(words.Quoted(r.names, mostNames), "none"), attributeOf[role])
		case v.list && !(role == Queries && i == queryDocument):
			return nq.Faultf(nq.BadType, "%s is a list, want one text or number", c.name)
		}
	}
	return nil
}

const mostNames = 12

// attributeOf is the attribute by which a user names fields of a role.
var attributeOf = map[Role]string{Documents: "fields", Queries: "query_fields", Judgments: "qrels_fields"}

// parseGrade reads a judgment's grade: an integer, also if it is written as 1.0.
func parseGrade(s string) (int32, error) {
	s = strings.TrimSpace(s)
	n, err := values.Integer(s)
	if err != nil || n != int(int32(n)) {
		return 0, nq.Faultf(nq.BadType, "grade %.40q is not an integer", s)
	}
	return int32(n), nil
}

// cleanName checks the name of a document or query.
func cleanName(what, name string) (string, error) {
	if name = strings.TrimSpace(name); name == "" {
		return "", nq.Faultf(nq.MissingField, "the %s has an empty name", what)
	}
	return name, nil
}
