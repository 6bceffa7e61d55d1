package archive

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/values"
)

// Format is the version of the archives that this code writes.
const Format = "redsi-archive/1"

// The contents of an archive, by name.
const (
	ManifestName = "redsi-archive.json"
	ReadmeName   = "README.md"
	CitationName = "CITATION.cff"
	CrateName    = "ro-crate-metadata.json"
	ReportName   = "report.html"
	ResultsDir   = "results/" // tables and figures for people
	ProjectDir   = "project/" // the pipeline's files
	storeDir     = "store/"   // the store's layout
	BlobsDir     = storeDir + "blobs/"
	RecordsDir   = storeDir + "records/"
)

// Manifest is redsi-archive.json, which may be signed. It has the digests of every other file and of all records, and
// records have the digests of blobs, so that its signature covers everything.
type Manifest struct {
	Format    string                     `json:"format"`
	Title     string                     `json:"title,omitempty"`
	Pipeline  string                     `json:"pipeline"`            // below project/, as -f takes it; "." is project/
	Variables map[string]json.RawMessage `json:"variables,omitempty"` // whose values are not the defaults
	Targets   []string                   `json:"targets,omitempty"`
	Files     []artifacts.File           `json:"files"`             // below project/
	Sources   []artifacts.File           `json:"sources,omitempty"` // files of the project that are only in the store
	Others    []artifacts.File           `json:"others"`            // for people and other programs
	Results   int                        `json:"results"`
	Records   RecordsDigest              `json:"records"`
	Blobs     int                        `json:"blobs"`
	Bytes     int64                      `json:"bytes"` // of blobs
	LeftOut   []LeftOut                  `json:"left_out,omitempty"`
	Created   string                     `json:"created"` // when its newest result was computed
	Revision  string                     `json:"redsi,omitempty"`
}

// RecordsDigest covers all records of an archive.
type RecordsDigest struct {
	Count  int              `json:"count"`
	Digest artifacts.Digest `json:"digest"` // of lines "NAME sha256:HEX\n", sorted by name
}

// LeftOut describes the blobs of a step that are not in the archive.
type LeftOut struct {
	Step  string `json:"step"`
	Blobs int    `json:"blobs"`
	Bytes int64  `json:"bytes"`
	URL   string `json:"url,omitempty"` // address of the first such blob; "": unknown

	// Elsewhere counts the blobs whose records give an address. If all do, the step's result is used without the blobs.
	Elsewhere int `json:"elsewhere,omitempty"`
}

// Fetched says where a reader gets the blobs from; "" if the step has to be rerun.
func (l LeftOut) Fetched() string {
	switch {
	case l.Elsewhere == 0 || l.Elsewhere < l.Blobs:
		return ""
	case l.Blobs == 1:
		return l.URL
	}
	return fmt.Sprintf("%s and %d more", l.URL, l.Blobs-1)
}

// CheckProjectFile refuses names that a project's files must not have: names that other systems take for a different
// file, and names that change how programs work in the folder.
func CheckProjectFile(name string) error {
	if err := artifacts.CheckFileName(name); err != nil {
		return err
	}
	rest, _ := strings.CutPrefix(name, ModulesDir)
	for seg := range strings.SplitSeq(rest, "/") {
		switch s := fold(seg); {
		case s == ".git" || s == ".redsi" || strings.HasPrefix(s, "git~"):
			return fmt.Errorf("%q: an archive must not have a folder %s", name, seg)
		case s == localSettings:
			return fmt.Errorf("%q: an archive must not have personal settings", name)
		}
	}
	return nil
}

// ModulesDir is where the commits of modules' repositories are, below project/.
const ModulesDir = ".redsi/modules/"

const localSettings = "redsi.local.hcl" // syntax.LocalFile

// fold returns a name as file systems may compare it: regardless of case and composition.
func fold(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(name)))
}

func parseManifest(b []byte) (m Manifest, by signature.Public, err error) {
	if err := values.Written(b, &m); err != nil {
		return m, by, err
	}
	if m.Format != Format {
		return m, by, fmt.Errorf("its format is %.100q, but this redsi reads %s: a newer version may have written it", m.Format, Format)
	}
	if by, err = signature.Signer(b); err != nil {
		return m, by, err
	}
	if m.Pipeline != "." {
		if err := CheckProjectFile(m.Pipeline); err != nil {
			return m, by, err
		}
	}
	return m, by, nil
}

// BodyOf returns the blob that a long result's record names; ok is false for any other record.
func BodyOf(record []byte) (d artifacts.Digest, ok bool) {
	var r struct {
		Body *artifacts.Digest `json:"body"`
	}
	if json.Unmarshal(record, &r) != nil || r.Body == nil {
		return d, false
	}
	return *r.Body, true
}
