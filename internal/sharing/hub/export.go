// Package hub writes results that are data sets or models as repositories of the Hugging Face hub, each into a folder,
// with the command of the hub's own program that uploads it.
//
// It owns the hub's requirements for a repository: metadata at the head of README.md, limits of files, and which of them
// go to Git LFS. It must not know flags, and uploads nothing.
package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/address"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/session"
	"github.com/redsi/redsi/internal/sharing/files"
	"github.com/redsi/redsi/internal/system/atomicfile"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/step"
)

// Repository is a repository that was written.
type Repository struct {
	Address string `json:"address"`
	Kind    Kind   `json:"kind"`
	Name    string `json:"name"`
	Folder  string `json:"folder"`
	Files   int    `json:"files"`
	Bytes   int64  `json:"bytes"`
	Upload  string `json:"upload"` // the command that uploads it
}

// Export writes the repositories of a session's targets into a folder, for a namespace of the hub unless that is "", and
// says which steps have no result yet.
func Export(ctx context.Context, se *session.Session, folder, namespace string) (list []Repository, err error) {
	exports := func(s plan.Step) bool {
		kind := se.Registry.Lookup(s.Task.Kind)
		return kind != nil && slices.ContainsFunc(kind.Outputs, func(o step.Output) bool { _, ok := KindOf(o.Type); return ok })
	}
	v, err := se.Preview(ctx, func(of session.Seen) (plan.Keep, error) {
		return func(i int, _ *plan.Item) bool { return exports(of.Plan.Steps[i]) }, nil
	})
	if err != nil {
		return nil, err
	}
	var missing []string
	folders := map[string]string{}
	for i, s := range v.Plan.Steps {
		if !exports(s) {
			continue
		}
		result := v.Items[i].Result
		if result == nil {
			missing = append(missing, s.Address)
			continue
		}
		for _, output := range slices.Sorted(maps.Keys(result.Outputs)) {
			kind, ok := KindOf(result.Outputs[output].Type)
			if !ok {
				continue
			}
			e := Repository{Address: s.Address, Kind: kind, Name: nameOf(s.Address)}
			e.Folder = filepath.Join(folder, e.Name)
			if other, taken := folders[e.Name]; taken {
				return nil, fault.Input(fmt.Errorf("%s and %s would both be written to %s: export one of them with --target", other, s.Address, e.Folder))
			}
			folders[e.Name] = s.Address
			if err := e.write(ctx, v.Store, result.Outputs[output]); err != nil {
				return nil, fmt.Errorf("%s: %w", s.Address, err)
			}
			e.Upload = shellwords.Line([]string{"hf", "upload", cmp.Or(namespace, "NAMESPACE") + "/" + e.Name, e.Folder, ".", "--repo-type", string(kind)})
			list = append(list, e)
		}
	}
	if n := len(missing); n > 0 {
		text := missing[0] + " has no result yet, so it is left out"
		if n > 1 {
			text = fmt.Sprintf("%d steps have no result yet, so they are left out", n)
		}
		se.Say(text + ": " + se.ToRun(address.Blocks(missing)...))
	}
	if len(list) == 0 {
		return nil, fault.Input(errors.New("no step has a dataset or model for the hub: steps of the kinds export and export_model write them"))
	}
	return list, nil
}

const cardMost = 16 << 20 // bounds a repository's README.md

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._]+`)

// nameOf returns an address without its kind, in characters that the hub allows: nq320k-title-html_norm for
// step.export.nq320k["title/html_norm"].
func nameOf(step string) string {
	a := address.Of(step)
	return strings.Trim(notInNames.ReplaceAllString(strings.TrimPrefix(a.Modules, "module.")+"-"+a.Label()+a.Key, "-"), "-.")
}

// write writes a tree into the repository's folder, replacing files of an earlier export.
func (e *Repository) write(ctx context.Context, store *artifacts.Resolver, tree artifacts.Artifact) error {
	var card []byte
	e.Files, e.Bytes = len(tree.Files), tree.Size
	if f, ok := tree.File(Card); ok {
		var err error
		if card, err = artifacts.ReadBlob(ctx, store, f.Digest, cardMost); err != nil {
			return err
		}
	}
	if err := Check(e.Kind, card, tree.Files); err != nil {
		return err
	}
	if err := e.leftOver(tree); err != nil {
		return err
	}
	if err := atomicfile.WriteFile(filepath.Join(e.Folder, ".gitattributes"), Attributes(tree.Files), 0o644); err != nil {
		return err
	}
	for _, f := range tree.Files {
		if err := files.Write(ctx, store, f.Digest, f.Size, filepath.Join(e.Folder, filepath.FromSlash(f.Name))); err != nil {
			return err
		}
	}
	return nil
}

// leftOver refuses a folder with other files, such as files of an earlier export: they would be uploaded too.
func (e *Repository) leftOver(tree artifacts.Artifact) error {
	top := e.Folder + string(filepath.Separator) // it may be a link
	return filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path == top:
			return nil
		case err == nil && d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case err != nil || d.IsDir():
			return err
		}
		name, err := filepath.Rel(e.Folder, path)
		if err != nil {
			return err
		}
		if _, ok := tree.File(filepath.ToSlash(name)); !ok && name != ".gitattributes" {
			return fault.Input(fmt.Errorf("%s does not belong to %s: remove it, or give another --hub", path, e.Address))
		}
		return nil
	})
}
