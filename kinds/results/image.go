package results

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/render"
	"github.com/redsi/redsi/kinds/internal/inout"
	"github.com/redsi/redsi/step"
)

const whatIsDrawn = "PNG, SVG, PDF, HTML and Vega-Lite JSON are taken"

// drawImage makes the pictures that steps left the figure's outputs: of each format at most one.
func drawImage(x *step.IO, c figureConfig) error {
	f := c.layout()
	for _, in := range c.Image {
		found, err := pictures(x, in)
		if err != nil {
			return step.Permanent(fmt.Errorf("image: %w", err))
		}
		for format, file := range found {
			if old, twice := f.Image[format]; twice {
				return step.Permanent(fmt.Errorf("image: %s and %s have the same format, %s; name one of each", old.Name, file.Name, format))
			}
			f.Image[format] = render.ImageFile{Name: file.Name, Digest: file.Digest.String()}
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
	found := map[string]artifacts.File{}
	var names, stems []string
	for _, f := range files {
		file, err := x.Path(f.Digest)
		if err != nil {
			return nil, err
		}
		format, head, err := render.ImageFormat(file)
		ending := path.Ext(f.Name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		case format != "":
			names, stems = append(names, f.Name), append(stems, strings.TrimSuffix(f.Name, ending))
			found[format] = f
		case len(files) == 1 || slices.Contains([]string{".png", ".svg", ".pdf"}, strings.ToLower(ending)):
			return nil, fmt.Errorf("%s is not a picture: it begins with %.40q; %s", f.Name, head, whatIsDrawn)
		default:
			x.Count("files beside the picture", 1)
		}
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("none of the tree's %d files is a picture; %s", len(files), whatIsDrawn)
	case len(found) < len(names) || len(slices.Compact(stems)) > 1:
		return nil, fmt.Errorf("the tree has %d pictures: %.500s; name one: step.KIND.NAME.out[%q]", len(names), strings.Join(names, ", "), names[0])
	}
	return found, nil
}
