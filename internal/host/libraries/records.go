package libraries

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/redsi/redsi/artifacts"
)

// normal is the normal form of a distribution's name, in which case and the choice of "-", "_" or "." do not matter.
func normal(name string) string { return strings.ToLower(separators.ReplaceAllString(name, "-")) }

var separators = regexp.MustCompile(`[-_.]+`)

// recordSum reads the SHA-256 of a line of a RECORD; zero if it has none.
func recordSum(text string) (d artifacts.Digest) {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(text, "sha256="))
	if err == nil && len(b) == len(d) {
		copy(d[:], b)
	}
	return d
}

// condaMeta reads what conda has installed, and the files of it.
func (r *reading) condaMeta(entries []entry) error {
	for _, e := range entries {
		if filepath.Ext(e.Name) != ".json" {
			continue
		}
		pkg, err := CondaPackageAt(r.at.Conda, e.Name, "")
		if err != nil {
			return err
		}
		var sums []string
		for _, f := range pkg.Paths.Paths {
			rec := recorded{size: -1, by: e}
			sums = append(sums, f.SHA)
			sum := f.Here
			if sum == "" {
				sum = f.SHA
				if f.Size != nil {
					rec.size = *f.Size
				}
			}
			rec.sum, _ = artifacts.ParseHex(sum) // zero if there is none
			r.conda[f.Path] = rec
		}
		d := Distribution{Name: pkg.Name, Version: strings.TrimSpace(pkg.Version + " " + pkg.Build), Files: cmp.Or(pkg.SHA256, pkg.MD5)}
		if d.Files == "" { // the package is from no channel
			d.Files = artifacts.Sum([]byte(strings.Join(sums, "\n"))).Hex()
		}
		r.out.Distributions = append(r.out.Distributions, d)
	}
	return nil
}

// CondaPackage is what conda records of a package.
type CondaPackage struct {
	Name, Version, Build string
	SHA256, MD5, License string
	Record               artifacts.Digest `json:"-"` // of the record itself, which names its files
	Paths                struct {
		Paths []struct {
			Path string `json:"_path"`
			SHA  string `json:"sha256"`           // of the file in the package
			Here string `json:"sha256_in_prefix"` // of the file as it is installed, with the environment's folder
			Size *int64 `json:"size_in_bytes"`
		}
	} `json:"paths_data"`
}

// CondaPackageAt reads a record of conda-meta; the result is empty for other files, and if the text lacks with.
func CondaPackageAt(meta, name, with string) (pkg CondaPackage, err error) {
	if filepath.Ext(name) != ".json" {
		return pkg, nil
	}
	at := filepath.Join(meta, name)
	text, err := readBounded(at, maxJSON)
	if err != nil || !bytes.Contains(text, []byte(with)) {
		return pkg, err
	}
	if err = json.Unmarshal(text, &pkg); err != nil {
		err = fmt.Errorf("%s: %w", at, err)
	}
	pkg.Record = artifacts.Sum(text)
	return pkg, err
}
