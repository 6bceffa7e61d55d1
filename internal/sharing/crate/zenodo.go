package crate

import (
	"fmt"
	"html"
	"strings"

	"github.com/redsi/redsi/internal/system/values"
)

type related struct {
	Identifier string `json:"identifier"`
	Relation   string `json:"relation"`
	Scheme     string `json:"scheme"`
}

// Zenodo returns the body of the request that creates a deposition at Zenodo.
func Zenodo(w Work) ([]byte, error) {
	var missing []string
	for _, a := range []struct{ name, value string }{{"title", w.Title}, {"abstract", w.Abstract}, {"license", w.License}} {
		if a.value == "" {
			missing = append(missing, a.name)
		}
	}
	if len(w.Authors) == 0 {
		missing = append(missing, "authors")
	}
	if missing != nil {
		return nil, fmt.Errorf("a deposit needs attributes that the pipeline's paper block lacks: %s", strings.Join(missing, ", "))
	}
	if strings.Contains(w.License, "/") {
		return nil, fmt.Errorf("license %s: Zenodo needs an SPDX id, such as CC-BY-4.0", w.License)
	}
	type metadata struct {
		Title       string    `json:"title"`
		UploadType  string    `json:"upload_type"`
		Description string    `json:"description"` // HTML
		Creators    []Author  `json:"creators"`
		Keywords    []string  `json:"keywords,omitempty"`
		AccessRight string    `json:"access_right"`
		License     string    `json:"license"`
		Version     string    `json:"version,omitempty"`
		DOI         string    `json:"doi,omitempty"`
		Related     []related `json:"related_identifiers,omitempty"`
	}
	m := metadata{Title: w.Title, UploadType: "dataset", Description: "<p>" + html.EscapeString(w.Abstract) + "</p>", Keywords: w.Keywords,
		Creators: w.Authors, AccessRight: "open", License: strings.ToLower(w.License), Version: w.Version, DOI: w.DOI}
	if w.Paper != "" {
		m.Related = append(m.Related, related{w.Paper, "isSupplementTo", "doi"})
	} else if w.URL != "" {
		m.Related = append(m.Related, related{w.URL, "isSupplementTo", "url"})
	}
	b, err := values.JSON(map[string]any{"metadata": m}, "  ")
	return append(b, '\n'), err
}

// Commands returns the commands that upload an archive to Zenodo with its metadata file, as a draft for a person to
// publish there, with a token from the environment. All three are quoted for a shell; name is the archive's own.
func Commands(file, metadata, name string) []string {
	const token = `-H "Authorization: Bearer $ZENODO_TOKEN"`
	return []string{
		`BUCKET=$(curl -sSf ` + token + ` -H 'Content-Type: application/json' -d @` + metadata +
			` https://zenodo.org/api/deposit/depositions | sed -n 's/.*"bucket": *"\([^"]*\)".*/\1/p')`,
		`curl -sSf ` + token + ` --upload-file ` + file + ` "$BUCKET"/` + name + ` | cat`,
	}
}
