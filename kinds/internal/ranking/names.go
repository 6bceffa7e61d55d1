package ranking

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/redsi/redsi/internal/corpora/dedup"
	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// names are those of documents and queries outside of redsi, with the numbers that they
// have inside. Without a collection a name stays as it is.
type names struct {
	documents, queries map[string]string // outside to inside; nil: all stay
	ambiguous          map[string]bool   // queries of several splits
}

// collectionNames reads them. Either input may be missing; split "" is all.
func collectionNames(x *step.IO, documents, queries step.Input, split string) (*names, error) {
	n := &names{ambiguous: map[string]bool{}}
	if documents.Set() {
		n.documents = map[string]string{}
		err := inout.EachRow(x, documents, "documents", func(d *dedup.Document) error {
			if _, twice := n.documents[d.Key]; twice {
				return fmt.Errorf("two documents are named %q", d.Key)
			}
			n.documents[d.Key] = strconv.Itoa(int(d.Doc))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if queries.Set() {
		n.queries = map[string]string{}
		err := eachName(x, queries, split, func(outside, inside string) error {
			if other, ok := n.queries[outside]; ok && other != inside {
				n.ambiguous[outside] = true
			}
			n.queries[outside] = inside
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return n, nil
}

// eachName visits the lines of queries of a split, or of all of them for "".
func eachName(x *step.IO, queries step.Input, split string, visit func(outside, inside string) error) error {
	return inout.EachQuery(x, queries, "queries", func(q *dedup.Query) error {
		if split == "" || q.Split == nq.Split(split) {
			inside := strconv.FormatInt(q.ExampleID, 10)
			return visit(cmp.Or(q.Name, inside), inside)
		}
		return nil
	})
}

// unknownError is a name that the collection lacks.
type unknownError struct{ what, name string }

func (e *unknownError) Error() string {
	return fmt.Sprintf("the collection has no %s named %.80q; unknown = \"leave_out\" leaves such lines out", e.what, e.name)
}

// inside are the numbers of a query and a document; an *unknownError if there are none.
func (n *names) inside(query, document string) (q, d string, err error) {
	q, d = query, document
	if n.queries != nil {
		if n.ambiguous[query] {
			return q, d, fmt.Errorf("queries of several splits are named %.80q; say which split is meant", query)
		}
		found := false
		if q, found = n.queries[query]; !found {
			return q, d, &unknownError{"query", query}
		}
	}
	if n.documents != nil {
		found := false
		if d, found = n.documents[document]; !found {
			return q, d, &unknownError{"document", document}
		}
	}
	return q, d, nil
}

// ignoreIdentical leaves documents with the query's own name out of rankings.
type ignoreIdentical struct {
	Ignore bool `hcl:"ignore_identical_ids,optional,added" help:"leaves out of each ranking the document that has the query's own name, and counts it: for collections whose queries are documents, such as ArguAna and Quora; as ignore_identical_ids of BEIR and --remove-query of Pyserini"`
}

// identicalOf is ignoreIdentical where runs have numbers for names.
type identicalOf struct {
	ignoreIdentical
	Documents step.Input `hcl:"documents,optional,added" accepts:"nq/documents" help:"the collection, whose documents' names ignore_identical_ids compares"`
}

func (c identicalOf) check(ps *step.Problems) {
	inout.Check(ps, "documents", c.Ignore == c.Documents.Set(), "goes with ignore_identical_ids = true: give both")
}

// own are the documents that have the name of a query, by the query's number; nil for none to
// be left out. split "" is all.
func (c identicalOf) own(x *step.IO, queries step.Input, split string) (map[string]string, error) {
	if !c.Ignore {
		return nil, nil
	}
	n, err := collectionNames(x, c.Documents, queries, split)
	if err != nil {
		return nil, err
	}
	own := map[string]string{}
	for name, number := range n.queries {
		if d, ok := n.documents[name]; ok && n.ambiguous[name] {
			return nil, step.Permanent(fmt.Errorf("queries of several splits are named %.80q: have the step that made the run ignore identical ids", name))
		} else if ok {
			own[number] = d
		}
	}
	return own, nil
}
