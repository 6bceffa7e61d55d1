package crate

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/values"
)

// About describes an archive apart from its steps.
type About struct {
	Work
	LicenseFile string // a file of the archive, if the work names no license

	Workflow  string                     // file of the pipeline, in the archive
	Language  string                     // of the pipeline's file
	Revision  string                     // of redsi
	Variables map[string]json.RawMessage // of the pipeline
	Files     []File                     // outside of the store
	Store     string                     // folder of the store, with its final slash

	// Blob returns the file of a blob in the archive, or "" and an address of its bytes, if there is one.
	Blob func(d artifacts.Digest) (path, elsewhere string)
}

// File is a file of the archive.
type File struct {
	Path, Name, Description string
	Digest                  artifacts.Digest // zero: unknown
	Size                    int64            // counts with a digest
}

// Step is a step of the pipeline with its result.
type Step struct {
	Address  string
	Kind     string
	Version  int
	Config   map[string]json.RawMessage // of the preimage: inputs are {"$input":"sha256:…"}
	Inputs   []artifacts.Digest         // artifacts that the step read
	Result   *artifacts.Result
	Rendered bool     // a table or figure
	License  string   // of the files that it downloaded, in the pipeline's words
	Signers  []string // public keys
	Used     []Used
}

// Used is a resource that a step used.
type Used struct {
	Name, ID string // of the quantity; ID is a URI or a name
	Value    any
	Unit     string // URI of the unit, or ""
}

// Permanent addresses of what a crate conforms to.
const (
	crateSpec      = "https://w3id.org/ro/crate/1.1"
	processRun     = "https://w3id.org/ro/wfrun/process/0.5"
	workflowRun    = "https://w3id.org/ro/wfrun/workflow/0.5"
	provenanceRun  = "https://w3id.org/ro/wfrun/provenance/0.5"
	workflowCrate  = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
	workflowSchema = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
	home           = "https://github.com/redsi/redsi"
	completed      = "http://schema.org/CompletedActionStatus"
)

// field and entity are a JSON object whose members keep their order.
type field struct {
	name  string
	value any
}

type entity []field

func ref(id string) entity { return entity{{"@id", id}} }

func refs(ids []string) []entity { return append([]entity{}, lists.Map(ids, ref)...) }

// with adds a member unless it is empty: a text, an entity or a list.
func (e entity) with(name string, value any) entity {
	if reflect.ValueOf(value).Len() == 0 {
		return e
	}
	return append(e, field{name, value})
}

// MarshalJSON writes the members in their order.
func (e entity) MarshalJSON() ([]byte, error) {
	members := make([]string, len(e))
	for i, f := range e {
		if list, ok := f.value.([]entity); ok && len(list) == 1 { // as the specification has it
			f.value = list[0]
		}
		name, err := values.JSON(f.name, "")
		if err != nil {
			return nil, err
		}
		value, err := values.JSON(f.value, "")
		if err != nil {
			return nil, err
		}
		members[i] = string(name) + ":" + string(value)
	}
	return []byte("{" + strings.Join(members, ",") + "}"), nil
}

// fragment returns the id of something that is described only in the crate.
func fragment(kind, name string) string { return "#" + kind + "-" + url.PathEscape(name) }

// fileID returns the id of a file of the archive, or the path of an address.
func fileID(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// stamp returns a time in the one form that the profile's checks take.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000+00:00") }
