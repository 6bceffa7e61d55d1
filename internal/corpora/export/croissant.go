package export

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
)

const CroissantFile = "croissant.json"

// croissantVersion is the version of the vocabulary that the file conforms to.
const croissantVersion = "http://mlcommons.org/croissant/1.0"

// croissantContext is the context required by the specification, in its order.
const croissantContext = `{
  "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
  "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/",
  "rai": "http://mlcommons.org/croissant/RAI/", "data": {"@id": "cr:data", "@type": "@json"},
  "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/",
  "equivalentProperty": "cr:equivalentProperty", "examples": {"@id": "cr:examples", "@type": "@json"},
  "extract": "cr:extract", "field": "cr:field", "fileProperty": "cr:fileProperty", "fileObject": "cr:fileObject",
  "fileSet": "cr:fileSet", "format": "cr:format", "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset",
  "jsonPath": "cr:jsonPath", "key": "cr:key", "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path",
  "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
  "replace": "cr:replace", "samplingRate": "cr:samplingRate", "sc": "https://schema.org/",
  "separator": "cr:separator", "source": "cr:source", "subField": "cr:subField", "transform": "cr:transform"
}`

type croissantID struct {
	ID string `json:"@id"`
}

type croissantSet struct {
	Context      json.RawMessage   `json:"@context"`
	Type         string            `json:"@type"`
	Name         string            `json:"name"`
	Description  string            `json:"description"`
	ConformsTo   string            `json:"conformsTo"`
	License      string            `json:"license,omitempty"`
	CiteAs       string            `json:"citeAs,omitempty"`
	Language     string            `json:"inLanguage,omitempty"`
	Distribution []croissantObject `json:"distribution"`
	RecordSet    []croissantRecord `json:"recordSet"`
}

type croissantObject struct {
	Type        string `json:"@type"`
	ID          string `json:"@id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	URL         string `json:"contentUrl"`
	Size        string `json:"contentSize"`
	Format      string `json:"encodingFormat"`
	SHA256      string `json:"sha256"`
}

type croissantRecord struct {
	Type        string           `json:"@type"`
	ID          string           `json:"@id"`
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Key         *croissantID     `json:"key,omitempty"`
	Fields      []croissantField `json:"field"`
}

type croissantField struct {
	Type        string           `json:"@type"`
	ID          string           `json:"@id"`
	Name        string           `json:"name"`
	Description string           `json:"description"`
	DataType    string           `json:"dataType"`
	Source      *croissantSource `json:"source"`
}

type croissantSource struct {
	FileObject croissantID       `json:"fileObject"`
	Extract    map[string]string `json:"extract"`
}

type column struct{ name, typ, help string }

var documentColumns = []column{
	{"id", "sc:Text", "name of the document"}, {"title", "sc:Text", "its title"},
	{"text", "sc:Text", "its text"}, {"url", "sc:URL", "the snapshot that represents it"},
}

var queryColumns = []column{
	{"id", "sc:Text", "name of the query"}, {"text", "sc:Text", "the question"},
	{"doc_id", "sc:Text", "a document that is relevant for it; a query with several has a record for each"},
}

var qrelColumns = []column{
	{"query-id", "sc:Text", "name of the query"}, {"corpus-id", "sc:Text", "name of the document"},
	{"score", "sc:Integer", "how relevant the document is"},
}

// WriteCroissant writes croissant.json, which describes the files of an export with their digests and sizes, and its
// documents, queries and judgements as record sets, and adds it to the files. Documents and queries are described as in
// Parquet or, without it, as in JSON lines.
func WriteCroissant(create Sink, c Card, s *Summary) error {
	about := words[c.Origin]
	set := croissantSet{Context: json.RawMessage(croissantContext), Type: "sc:Dataset", Name: c.Name, ConformsTo: croissantVersion, Language: c.language(),
		Description: fmt.Sprintf("%s: %s documents, %s queries.", about.subject, thousands(s.Documents), s.queries()),
		License:     about.licenseURL, Distribution: []croissantObject{}, RecordSet: []croissantRecord{}}
	if c.Origin == NaturalQuestions {
		set.CiteAs = strings.TrimSpace(bibtex)
	}
	for _, f := range s.Files {
		encoding := cmp.Or(encodings[path.Ext(strings.TrimSuffix(f.Name, ".gz"))], "text/plain")
		set.Distribution = append(set.Distribution, croissantObject{Type: "cr:FileObject", ID: f.Name, Name: f.Name, Description: describe(*s, f.Name), URL: f.Name,
			Size: fmt.Sprintf("%d B", f.Bytes), Format: encoding, SHA256: f.SHA256})
	}
	set.records(*s)
	out := &files{create: create, done: s.Files}
	w, err := out.text(CroissantFile)
	if err != nil {
		return err
	}
	w.json.SetIndent("", "  ")
	if err := errors.Join(w.json.Encode(set), out.close()); err != nil {
		return err
	}
	s.Files = out.sorted()
	return nil
}

func (set *croissantSet) records(s Summary) {
	add := func(id, file, description, key string, columns []column) {
		if !has(s, file) {
			return
		}
		r := croissantRecord{Type: "cr:RecordSet", ID: id, Name: id, Description: description}
		if key != "" {
			r.Key = &croissantID{id + "/" + key}
		}
		for _, c := range columns {
			if c.name == "text" && s.Texts == 0 && key != "" {
				continue // documents without texts
			}
			r.Fields = append(r.Fields, croissantField{Type: "cr:Field", ID: id + "/" + c.name, Name: c.name, Description: c.help, DataType: c.typ,
				Source: &croissantSource{FileObject: croissantID{file}, Extract: map[string]string{"column": c.name}}})
		}
		set.RecordSet = append(set.RecordSet, r)
	}
	documents, queries := "parquet/documents.parquet", named("parquet/queries-", ".parquet")
	if !has(s, documents) {
		documents, queries = "jsonl/documents.jsonl.gz", named("jsonl/queries.", ".jsonl.gz")
	}
	add("documents", documents, "Documents of the collection.", "id", documentColumns)
	for _, split := range s.splits() {
		add("queries-"+string(split), queries(split), fmt.Sprintf("Queries of the %s split, each with a relevant document.", split), "", queryColumns)
	}
	for _, split := range s.splits() {
		add("qrels-"+string(split), fmt.Sprintf("beir/qrels/%s.tsv", split), fmt.Sprintf("Relevance judgements of the %s split.", split), "", qrelColumns)
	}
}

// encodings are media types by the end of a name without .gz: readers of Croissant recognise gzip by its bytes.
var encodings = map[string]string{".parquet": "application/x-parquet", ".jsonl": "application/jsonlines",
	".json": "application/json", ".tsv": "text/tab-separated-values"}
