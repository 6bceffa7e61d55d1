package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// write leaves the collection in BEIR's layout.
func (c *collection) write(folder string) error {
	if err := os.MkdirAll(filepath.Join(folder, "qrels"), 0o755); err != nil {
		return err
	}
	var docs, queries, counted bytes.Buffer
	if err := c.writeDocuments(&docs); err != nil {
		return err
	}
	if err := c.writeQueries(&queries); err != nil {
		return err
	}
	e := json.NewEncoder(&counted)
	e.SetIndent("", "  ")
	if err := e.Encode(c.counts); err != nil {
		return err
	}
	files := map[string][]byte{
		"corpus.jsonl.gz": docs.Bytes(), "queries.jsonl.gz": queries.Bytes(), "counts.json": counted.Bytes(),
	}
	for _, split := range []string{"train", "dev", "test"} {
		var b bytes.Buffer
		fmt.Fprintln(&b, "query-id\tcorpus-id\tscore")
		for _, q := range c.queries {
			for _, s := range q.to {
				if q.split == split {
					fmt.Fprintf(&b, "%s\t%s\t1\n", q.name, s.key)
				}
			}
		}
		files[filepath.Join("qrels", split+".tsv")] = b.Bytes()
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(folder, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (c *collection) writeDocuments(w io.Writer) error {
	return lines(w, len(c.documents), func(i int) any {
		d := c.documents[i]
		return struct {
			ID    string `json:"_id"`
			Title string `json:"title"`
			Text  string `json:"text"`
		}{d.key, d.title, d.text}
	})
}

func (c *collection) writeQueries(w io.Writer) error {
	return lines(w, len(c.queries), func(i int) any {
		return struct {
			ID   string `json:"_id"`
			Text string `json:"text"`
		}{c.queries[i].name, c.queries[i].text}
	})
}

// lines writes n JSON lines, compressed, with no time in the header.
func lines(w io.Writer, n int, line func(i int) any) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	for i := range n {
		if err := e.Encode(line(i)); err != nil {
			return err
		}
	}
	return z.Close()
}
