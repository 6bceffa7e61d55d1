package hub

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Kind is what a repository holds.
type Kind string

// The kinds.
const (
	Dataset Kind = "dataset"
	Model   Kind = "model"
)

// KindOf is the kind of the repository that an output of that type is: a tree with a
// README.md whose head is the hub's metadata. False for all other types.
func KindOf(outputType string) (Kind, bool) {
	k, ok := strings.CutPrefix(outputType, "hub/")
	return Kind(k), ok && (Kind(k) == Dataset || Kind(k) == Model)
}

// File is a file of a repository.
type File struct {
	Name string // with slashes
	Size int64  // in bytes
}

// The hub's limits, as its page "Storage limits" gives them.
const (
	mostFileBytes = 50 << 30
	mostFiles     = 100_000
	mostInFolder  = 10_000
	mostPlain     = 10 << 20 // bytes of a file outside of Git LFS
)

// Card is README.md in the root of a repository.
const Card = "README.md"

// metadata is what is looked at of a card's head.
type metadata struct {
	License     string   `yaml:"license"`
	LibraryName string   `yaml:"library_name"`
	Configs     []config `yaml:"configs"`
}

type config struct {
	Name      string    `yaml:"config_name"`
	DataFiles yaml.Node `yaml:"data_files"`
}

// modelFiles are what transformers opens a model by.
var modelFiles = []string{"config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}

// Check says all that the hub, or those who load from it, would refuse.
func Check(kind Kind, card []byte, files []File) error {
	var errs []error
	problem := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	names := map[string]bool{}
	folders := map[string]int{}
	for _, f := range files {
		names[f.Name] = true
		folders[path.Dir(f.Name)]++
		if f.Size > mostFileBytes {
			problem("%s has %d bytes; the hub takes at most %d in a file: cut it", f.Name, f.Size, int64(mostFileBytes))
		}
		if f.Size == 0 {
			problem("%s is empty", f.Name)
		}
	}
	if len(files) > mostFiles {
		problem("%d files; the hub takes at most %d in a repository", len(files), mostFiles)
	}
	for folder, n := range folders {
		if n > mostInFolder {
			problem("%d files in %s; the hub takes at most %d in a folder", n, folder, mostInFolder)
		}
	}
	m, err := readMetadata(card)
	if err != nil {
		return errors.Join(append(errs, fmt.Errorf("%s: %w", Card, err))...)
	}
	if m.License == "" {
		problem("%s: its metadata name no license", Card)
	}
	switch kind {
	case Dataset:
		for _, c := range m.Configs {
			paths, err := dataFiles(&c.DataFiles)
			if err != nil {
				problem("%s: config %s: %w", Card, c.Name, err)
			}
			for _, p := range paths {
				if !slices.ContainsFunc(files, func(f File) bool { ok, _ := path.Match(p, f.Name); return ok }) {
					problem("%s: config %s: there is no file %s", Card, c.Name, p)
				}
			}
		}
	case Model:
		if m.LibraryName == "" {
			problem("%s: its metadata name no library_name", Card)
		}
		for _, name := range modelFiles {
			if !names[name] {
				problem("there is no %s, without which transformers does not open the model", name)
			}
		}
	}
	return errors.Join(errs...)
}

// readMetadata reads the YAML between the two lines of --- that a card begins with.
func readMetadata(card []byte) (m metadata, err error) {
	head, ok := bytes.CutPrefix(card, []byte("---\n"))
	if ok {
		head, _, ok = bytes.Cut(head, []byte("\n---\n"))
	}
	if !ok {
		return m, errors.New("it does not begin with metadata between two lines of ---")
	}
	return m, yaml.Unmarshal(head, &m)
}

// dataFiles are the paths of data_files: a path, or a list of splits with theirs.
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

// binary are the endings of files that Git LFS keeps whatever their size.
var binary = []string{".bin", ".gz", ".npy", ".parquet", ".safetensors", ".zst"}

// Attributes is the repository's .gitattributes: Git LFS keeps what is binary, and what is
// larger than the hub takes otherwise.
func Attributes(files []File) []byte {
	var b bytes.Buffer
	line := func(pattern string) {
		fmt.Fprintf(&b, "%s filter=lfs diff=lfs merge=lfs -text\n", pattern)
	}
	for _, ending := range binary {
		line("*" + ending)
	}
	for _, f := range files {
		if f.Size > mostPlain && !slices.Contains(binary, path.Ext(f.Name)) {
			line(quoted(f.Name))
		}
	}
	return b.Bytes()
}

// quoted is a name as a pattern of .gitattributes.
func quoted(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", "[[:space:]]").Replace("/" + name)
}
