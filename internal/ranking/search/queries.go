package search

import (
	"bytes"
	"fmt"
	"io"

	"github.com/redsi/redsi/internal/corpora/unpack"
)

// Queries cleans queries.
func Queries(texts []string) (queries []string, err error) {
	for i, text := range texts {
		q, err := Clean(text)
		if err != nil {
			return nil, fmt.Errorf("query %d: %w", i+1, err)
		}
		queries = append(queries, q)
	}
	return queries, nil
}

// ReadQueries reads queries from standard input, one in a line, and counts empty lines.
func ReadQueries(in io.Reader) (queries []string, empty int, err error) {
	lines := unpack.NewLines(in)
	err = lines.Each(func(line []byte) error {
		if len(bytes.TrimSpace(line)) == 0 {
			empty++
			return nil
		}
		q, err := Clean(string(line))
		queries = append(queries, q)
		return err
	})
	if err != nil {
		return nil, 0, fmt.Errorf("standard input, %w", err)
	}
	if len(queries) == 0 {
		return nil, 0, fmt.Errorf("standard input has no query in its %d lines; a query may also be an argument", lines.Number())
	}
	return queries, empty, nil
}
