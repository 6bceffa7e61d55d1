package search

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
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
	sc := bufio.NewScanner(in)
	n := 0
	for sc.Scan() {
		n++
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			empty++
			continue
		}
		q, err := Clean(sc.Text())
		if err != nil {
			return nil, 0, fmt.Errorf("standard input, line %d: %w", n, err)
		}
		queries = append(queries, q)
	}
	if err := sc.Err(); err != nil {
		return nil, 0, fmt.Errorf("standard input, after line %d: %w", n, err)
	}
	if len(queries) == 0 {
		return nil, 0, fmt.Errorf("standard input has no query in its %d lines; a query may also be an argument", n)
	}
	return queries, empty, nil
}
