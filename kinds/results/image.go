package results

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
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
			f.Image.Files[format] = render.ImageFile{Name: file.Name, Digest: file.Digest.String(), Size: file.Size}
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
	var names []string
	var other error
	stem, one := "", true
	for _, f := range files {
		format, err := formatOf(x, f)
		if err != nil {
			return nil, err
		}
		if format == "" {
			other = cannotDraw(x, f)
			switch strings.ToLower(path.Ext(f.Name)) {
			case ".png", ".svg", ".pdf":
				return nil, other
			}
			continue
		}
		base := strings.TrimSuffix(f.Name, path.Ext(f.Name))
		_, twice := found[format]
		one = one && !twice && (len(names) == 0 || base == stem)
		stem = base
		names = append(names, f.Name)
		found[format] = f
	}
	switch {
	case len(files) == 1 && len(names) == 0:
		return nil, other
	case len(names) == 0:
		return nil, fmt.Errorf("none of the tree's %d files is a picture; %s", len(files), render.WhatIsDrawn)
	case !one:
		return nil, fmt.Errorf("the tree has %d pictures: %.500s; name one: step.KIND.NAME.out[%q]", len(names), strings.Join(names, ", "), names[0])
	}
	x.Count("files beside the picture", int64(len(files)-len(names)))
	return found, nil
}

func formatOf(x *step.IO, f artifacts.File) (string, error) {
	in, err := openLocal(x, f)
	if err != nil {
		return "", err
	}
	defer in.Close()
	format, err := render.ImageFormat(in)
	if err != nil {
		err = fmt.Errorf("%s: %w", f.Name, err)
	}
	return format, err
}

// cannotDraw is the error for a file that is not a picture, with how it begins.
func cannotDraw(x *step.IO, f artifacts.File) error {
	in, err := openLocal(x, f)
	if err != nil {
		return err
	}
	defer in.Close()
	head := make([]byte, 40)
	n, err := io.ReadFull(in, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return err
	}
	if n == 0 {
		return fmt.Errorf("%s is empty, not a picture; %s", f.Name, render.WhatIsDrawn)
	}
	return fmt.Errorf("%s is not a picture: it begins with %q; %s", f.Name, head[:n], render.WhatIsDrawn)
}

func openLocal(x *step.IO, f artifacts.File) (*os.File, error) {
	p, err := x.Path(f.Digest)
	if err != nil {
		return nil, err
	}
	return os.Open(p)
}
