package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// below is the part of the collection whose documents' names begin with a prefix, with the
// queries that are for them alone.
func (c *collection) below(prefix string) *collection {
	part := &collection{}
	for _, d := range c.documents {
		if strings.HasPrefix(d.key, prefix) {
			part.documents = append(part.documents, d)
		}
	}
	for _, q := range c.queries {
		if !slices.ContainsFunc(q.to, func(s *section) bool { return !strings.HasPrefix(s.key, prefix) }) {
			part.queries = append(part.queries, q)
		}
	}
	return part
}

// write leaves the collection in BEIR's layout: compressed and with what was counted if it is
// the whole one.
func (c *collection) write(folder string, whole bool) error {
	if err := os.MkdirAll(filepath.Join(folder, "qrels"), 0o755); err != nil {
		return err
	}
	var docs, queries bytes.Buffer
	if err := errors.Join(c.writeDocuments(&docs), c.writeQueries(&queries)); err != nil {
		return err
	}
	files := map[string][]byte{"corpus.jsonl": docs.Bytes(), "queries.jsonl": queries.Bytes()}
	if whole {
		var said bytes.Buffer
		if err := c.writeSaid(&said); err != nil {
			return err
		}
		files["sentences.jsonl"] = said.Bytes()
		packed := map[string][]byte{}
		for name, b := range files {
			z, err := compressed(b)
			if err != nil {
				return err
			}
			packed[name+".gz"] = z
		}
		files = packed
		b, err := json.MarshalIndent(c.counts, "", "  ")
		if err != nil {
			return err
		}
		files["counts.json"] = append(b, '\n')
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

// writeSaid writes what documents say of themselves, as kind generate_queries reads it.
func (c *collection) writeSaid(w io.Writer) error {
	return lines(w, len(c.documents), func(i int) any {
		return struct {
			Document string   `json:"document"`
			Queries  []string `json:"queries"`
		}{c.documents[i].key, c.documents[i].said(4)}
	})
}

func lines(w io.Writer, n int, line func(i int) any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for i := range n {
		if err := e.Encode(line(i)); err != nil {
			return err
		}
	}
	return nil
}

// compressed is a text in gzip, with no time in the header.
func compressed(b []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(b)
	err = errors.Join(err, z.Close())
	return out.Bytes(), err
}
