package ranking

import (
	"fmt"

	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// ignoreIdentical leaves documents with the query's own name out of rankings.
type ignoreIdentical struct {
	Ignore bool `hcl:"ignore_identical_ids,optional,added" help:"leaves out of each ranking the document that has the query's own name, and counts it: for collections whose queries are documents, such as ArguAna and Quora; as ignore_identical_ids of BEIR and --remove-query of Pyserini"`
}

// identicalOf is ignoreIdentical where runs have numbers for names.
type identicalOf struct {
	ignoreIdentical
	Documents step.Input `hcl:"documents,optional,added" accepts:"nq/documents" help:"the collection, whose documents' names ignore_identical_ids compares"`
}

func (c identicalOf) check() (ps step.Problems) {
	inout.Check(&ps, "documents", c.Ignore == c.Documents.Set(), "goes with ignore_identical_ids = true: give both")
	return ps
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
