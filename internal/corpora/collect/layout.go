package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/redsi/redsi/internal/corpora/nq"
	"github.com/redsi/redsi/internal/system/readers"
	"github.com/redsi/redsi/internal/system/words"
)

// Part is what a file of a tree is in a collection.
type Part struct {
	Role  Role
	Split nq.Split // "": told by its records, or drawn
}

// Compare orders files for reading: queries, judgments, documents; of each, no split, train, dev and test.
func (p Part) Compare(o Part) int {
	roles, splits := []Role{Queries, Judgments, Documents}, append([]nq.Split{""}, Splits()...)
	return cmp.Or(slices.Index(roles, p.Role)-slices.Index(roles, o.Role), slices.Index(splits, p.Split)-slices.Index(splits, o.Split))
}

// roleWords are the parts of a name that tell a file's role.
var roleWords = map[string]Role{
	"corpus": Documents, "documents": Documents, "docs": Documents, "collection": Documents, "passages": Documents,
	"queries": Queries, "topics": Queries, "questions": Queries,
	"qrels": Judgments, "judgments": Judgments, "judgements": Judgments,
}

// splitWords are the parts of a name that tell a file's split.
var splitWords = map[string]nq.Split{
	"train": nq.Train, "training": nq.Train, "doctrain": nq.Train,
	"dev": nq.Dev, "valid": nq.Dev, "validation": nq.Dev, "val": nq.Dev, "docdev": nq.Dev,
	"test": nq.Test, "eval": nq.Test, "doctest": nq.Test,
}

// endings lists the endings of files that can be part of a collection.
var endings = []string{".jsonl", ".ndjson", ".json", ".tsv", ".csv", ".txt", ".trec", ".sgml", ".xml", ".parquet", ".qrels", ""}

// PartOf tells a file's part from its name, in the layouts of BEIR (corpus.jsonl, queries.jsonl, qrels/test.tsv), of MS
// MARCO (collection.tsv, queries.train.tsv, qrels.dev.tsv, msmarco-docs.tsv, …) and of export.
func PartOf(name string) (p Part, ok bool) {
	base, ext := stem(name)
	if !slices.Contains(endings, ext) {
		if word := ext[1:]; roleWords[word] == "" && splitWords[word] == "" {
			return p, false
		}
		base += ext // queries.train has no ending of a format
	}
	for w := range strings.FieldsFuncSeq(base, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if role, is := roleWords[w]; is && (p.Role == "" || role != Documents) {
			p.Role = role
		}
		if split, is := splitWords[w]; is && p.Split == "" {
			p.Split = split
		}
	}
	if p.Role == "" {
		p.Role = roleWords[strings.ToLower(path.Base(path.Dir(name)))]
	}
	if p.Role == Documents {
		p.Split = ""
	}
	return p, p.Role != ""
}

// PartIn extends PartOf to trees laid out as on the hub: data/test-00000-of-00001.parquet is a file of the split test, with
// judgments if judges (such as Judges) finds them in its content.
func PartIn(name string, judges func(name string) bool) (p Part, ok bool) {
	p, ok = PartOf(name)
	if !ok && p.Split != "" && strings.EqualFold(path.Base(path.Dir(name)), "data") && judges(name) {
		p.Role, ok = Judgments, true
	}
	return p, ok
}

// Judges reports whether a file begins with a judgment, by its particular names of columns: query-id and corpus-id.
func Judges(ctx context.Context, f File) bool {
	s := schemaOf(Judgments, nil)
	for _, column := range []int{judgedQuery, judgedDocument} {
		s[column].aliases = s[column].aliases[:2]
	}
	in, err := f.Open()
	if err != nil {
		return false
	}
	defer in.Close()
	src, done, err := open(f, readers.WithContext(ctx, in), Judgments, Reading{Format: Auto}, s, &FileReport{})
	if err != nil {
		return false
	}
	defer done()
	r, err := src.next()
	switch src.(type) {
	case *jsonLines, *parquetRows:
		return err == nil && r.check(s, Judgments) == nil
	}
	return errors.Is(err, errHeader) // without one, a table's columns may be any
}

// Arrange finds the parts of a collection among the files of a tree by PartIn: below folder or, if that is "", below the
// folder with documents. It is an error if two folders have documents, or none and no documents were picked.
func Arrange(names []string, folder string, picked bool, judges func(name string) bool) (parts map[string]Part, err error) {
	parts = map[string]Part{}
	tops := map[string]bool{} // folders with documents
	for _, name := range names {
		rel := name
		if folder != "" {
			var below bool
			if rel, below = strings.CutPrefix(name, strings.TrimSuffix(folder, "/")+"/"); !below {
				continue
			}
		}
		p, ok := PartIn(rel, func(string) bool { return judges(name) })
		if !ok {
			continue
		}
		parts[name] = p
		if p.Role == Documents {
			dir := path.Dir(name)
			if roleWords[strings.ToLower(path.Base(dir))] == Documents {
				dir = path.Dir(dir)
			}
			tops[dir] = true
		}
	}
	switch {
	case len(tops) == 0 && !picked:
		return nil, fmt.Errorf("none of the %d files looks like documents: %s; name them with documents, or with pick", len(names), words.Quoted(names, mostNames))
	case len(tops) > 1:
		return nil, fmt.Errorf("documents are in several folders: %s; choose one with folder", words.Quoted(slices.Sorted(maps.Keys(tops)), mostNames))
	}
	for dir := range tops {
		if dir != "." {
			maps.DeleteFunc(parts, func(name string, _ Part) bool { return !strings.HasPrefix(name, dir+"/") })
		}
	}
	return parts, nil
}
