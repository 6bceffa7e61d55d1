package hub

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/redsi/redsi/artifacts"
)

// Kind is what a repository holds.
type Kind string

// The kinds.
const (
	Dataset Kind = "dataset"
	Model   Kind = "model"
)

// KindOf returns the kind of repository that an output of a type is: a tree whose README.md begins with the hub's
// metadata. False for all other types.
func KindOf(outputType string) (Kind, bool) {
	k, ok := strings.CutPrefix(outputType, "hub/")
	return Kind(k), ok && (Kind(k) == Dataset || Kind(k) == Model)
}

// The hub's limits, from its page "Storage limits".
const (
	mostFileBytes = 50 << 30
	mostFiles     = 100_000
	mostInFolder  = 10_000
	mostPlain     = 10 << 20 // bytes of a file outside of Git LFS
)

// Card is README.md in the root of a repository.
const Card = "README.md"

// metadata is the part of a card's metadata that is checked.
type metadata struct {
	License     string   `yaml:"license"`
	LibraryName string   `yaml:"library_name"`
	Configs     []config `yaml:"configs"`
}

type config struct {
	Name      string    `yaml:"config_name"`
	DataFiles yaml.Node `yaml:"data_files"`
}

var modelFiles = []string{"config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}

// Check reports everything that the hub, or libraries that load from it, would refuse.
func Check(kind Kind, card []byte, files []artifacts.File) error {
	var errs []error
	problem := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	names := map[string]bool{}
	folders := map[string]int{}
	for _, f := range files {
		names[f.Name] = true
		folders[path.Dir(f.Name)]++
		if f.Size > mostFileBytes {
			problem("%s has %d bytes; the hub takes at most %d per file: split it", f.Name, f.Size, int64(mostFileBytes))
		}
		if f.Size == 0 {
			problem("%s is empty", f.Name)
		}
	}
	if len(files) > mostFiles {
		problem("%d files; the hub takes at most %d per repository", len(files), mostFiles)
	}
	for folder, n := range folders {
		if n > mostInFolder {
			problem("%d files in %s; the hub takes at most %d per folder", n, folder, mostInFolder)
		}
	}
	m, err := readMetadata(card)
	if err != nil {
		return errors.Join(append(errs, fmt.Errorf("%s: %w", Card, err))...)
	}
	if m.License == "" {
		problem("%s: its metadata have no license", Card)
	}
	switch kind {
	case Dataset:
		for _, c := range m.Configs {
			paths, err := dataFiles(&c.DataFiles)
			if err != nil {
				problem("%s: config %s: %w", Card, c.Name, err)
			}
			for _, p := range paths {
				if !slices.ContainsFunc(files, func(f artifacts.File) bool { ok, _ := path.Match(p, f.Name); return ok }) {
					problem("%s: config %s: there is no file %s", Card, c.Name, p)
				}
			}
		}
	case Model:
		if m.LibraryName == "" {
			problem("%s: its metadata have no library_name", Card)
		}
		for _, name := range modelFiles {
			if !names[name] {
				problem("there is no %s, which transformers needs to open the model", name)
			}
		}
	}
	return errors.Join(errs...)
}

// readMetadata reads the YAML between the two --- lines at the beginning of a card.
func readMetadata(card []byte) (m metadata, err error) {
	head, ok := bytes.CutPrefix(card, []byte("---\n"))
	if ok {
		head, _, ok = bytes.Cut(head, []byte("\n---\n"))
	}
	if !ok {
		return m, errors.New("it does not begin with metadata between two lines of ---")
	}
	err = yaml.Unmarshal(head, &m)
	return m, err
}

// dataFiles returns the paths in data_files: a path, or a list of splits with paths.
func dataFiles(n *yaml.Node) ([]string, error) {
	var one string
	if n.Decode(&one) == nil {
		return []string{one}, nil
	}
	var splits []struct {
		Path yaml.Node `yaml:"path"`
	}
	if err := n.Decode(&splits); err != nil {
		return nil, fmt.Errorf("data_files: %w", err)
	}
	var out []string
	for _, s := range splits {
		var paths []string
		if s.Path.Decode(&paths) != nil {
			paths = []string{s.Path.Value}
		}
		out = append(out, paths...)
	}
	return out, nil
}

// binary are the extensions of files that go to Git LFS whatever their size.
var binary = []string{".bin", ".gz", ".npy", ".parquet", ".safetensors", ".zst"}

// Attributes returns .gitattributes: binary files, and files too large for the hub otherwise, go to Git LFS.
func Attributes(files []artifacts.File) []byte {
	var b bytes.Buffer
	line := func(pattern string) { fmt.Fprintf(&b, "%s filter=lfs diff=lfs merge=lfs -text\n", pattern) }
	for _, ending := range binary {
		line("*" + ending)
	}
	for _, f := range files {
		if f.Size > mostPlain && !slices.Contains(binary, path.Ext(f.Name)) {
			line(inPattern.Replace("/" + f.Name))
		}
	}
	return b.Bytes()
}

// inPattern quotes a name in a pattern of .gitattributes.
var inPattern = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", "[[:space:]]")
