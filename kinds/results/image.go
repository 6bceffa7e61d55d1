package results

import (
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

// mostFiles bounds the files of a tree among which pictures are looked for.
const mostFiles = 1000

// drawImage makes the pictures that steps left the figure's outputs: of each format at most one.
func drawImage(x *step.IO, c figureConfig) error {
	f := c.layout()
	for _, in := range c.Image {
		found, err := pictures(x, in)
		if err != nil {
			return step.Permanent(fmt.Errorf("image: %w", err))
		}
		for format, file := range found {
			if old, twice := f.Image.Files[format]; twice {
				return step.Permanent(fmt.Errorf("image: %s and %s have the same format, %s; name one of each", old.Name, file.Name, format))
			}
			f.Image.Files[format] = render.ImageFile{Name: file.Name, Digest: file.Digest.String()}
			if err := x.Link(format, artifacts.Artifact{Digest: file.Digest, Size: file.Size}); err != nil {
				return err
			}
		}
	}
	if err := f.Finish(); err != nil {
		return step.Permanent(err)
	}
	return inout.Write(x, "json", f.JSON)
}

// pictures finds the picture of an artifact, in one format or several: the only one of a tree, whose
// files have one name and different endings. Bytes decide what is a picture.
func pictures(x *step.IO, in step.Input) (map[string]artifacts.File, error) {
	files := x.Files(in, "the input, of type "+in.Artifact.Type)
	if len(files) > mostFiles {
		return nil, fmt.Errorf("the tree has %d files; pictures are looked for among at most %d: name the picture's file", len(files), mostFiles)
	}
	found := map[string]artifacts.File{}
	var names, stems []string
	for _, f := range files {
		format, head, err := formatOf(x, f)
		ending := strings.ToLower(path.Ext(f.Name))
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		case format == "" && (len(files) == 1 || slices.Contains([]string{".png", ".svg", ".pdf"}, ending)):
			return nil, fmt.Errorf("%s is not a picture: it begins with %q; %s", f.Name, head, render.WhatIsDrawn)
		case format == "":
			x.Count("files beside the picture", 1)
			continue
		}
		names, stems = append(names, f.Name), append(stems, strings.TrimSuffix(f.Name, path.Ext(f.Name)))
		found[format] = f
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("none of the tree's %d files is a picture; %s", len(files), render.WhatIsDrawn)
	case len(found) < len(names) || len(slices.Compact(stems)) > 1:
		return nil, fmt.Errorf("the tree has %d pictures: %.500s; name one: step.KIND.NAME.out[%q]", len(names), strings.Join(names, ", "), names[0])
	}
	return found, nil
}

// formatOf is the format of a file, and how it begins.
func formatOf(x *step.IO, f artifacts.File) (format string, head []byte, err error) {
	p, err := x.Path(f.Digest)
	if err != nil {
		return "", nil, err
	}
	in, err := os.Open(p)
	if err != nil {
		return "", nil, err
	}
	defer in.Close()
	head = make([]byte, min(40, f.Size))
	if _, err := in.ReadAt(head, 0); err != nil && err != io.EOF {
		return "", nil, err
	}
	format, err = render.ImageFormat(in)
	return format, head, err
}
