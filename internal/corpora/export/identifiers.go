package export

import (
	"fmt"
	"regexp"
)

// typeName matches the name of a type, for files and for the splits of a data set.
var typeName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func CheckIdentifiers(name string) error {
	if !typeName.MatchString(name) {
		return fmt.Errorf("identifiers %q: a name has lower-case letters, digits and _, and begins with a letter", name)
	}
	return nil
}

// LanguageTag matches a card's language, and "" for none.
var LanguageTag = regexp.MustCompile(`^([a-zA-Z]{2,3}(-[a-zA-Z0-9]+)*)?$`)

// writeIdentifiers writes one type's identifiers as JSON lines and perhaps Parquet; every document in ids has one.
func writeIdentifiers(f *files, set Identifiers, parquet bool, ids map[string]struct{}) error {
	if err := CheckIdentifiers(set.Name); err != nil {
		return err
	}
	lines, err := f.text("identifiers/" + set.Name + ".jsonl.gz")
	if err != nil {
		return err
	}
	var rows *table[Identifier]
	if parquet {
		if rows, err = openTable[Identifier](f, "parquet/identifiers-"+set.Name+".parquet"); err != nil {
			return err
		}
	}
	named := make(map[string]struct{}, len(ids))
	for id, err := range set.Each {
		if err != nil {
			return err
		}
		if _, ok := ids[id.DocID]; !ok {
			return fmt.Errorf("%s identifiers: %q is not a document", set.Name, id.DocID)
		}
		if _, ok := named[id.DocID]; ok {
			return fmt.Errorf("%s identifiers: document %q has two", set.Name, id.DocID)
		}
		named[id.DocID] = struct{}{}
		if err := lines.json.Encode(id); err != nil {
			return err
		}
		if parquet {
			if err := rows.add(*id, len(id.DocID)+len(id.Text)+4*len(id.Tokens)); err != nil {
				return err
			}
		}
	}
	if len(named) != len(ids) {
		return fmt.Errorf("%s identifiers: %d for %d documents", set.Name, len(named), len(ids))
	}
	return nil
}
