package prose

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Picture is a file of a figure, as redsi report --latex writes it.
type Picture struct {
	Address string
	Name    string // figures/NAME.pdf
	Digest  string // sha256:…
}

// Included is a picture that a paper includes.
type Included struct {
	Place Place  `json:"place"`
	Name  string `json:"name"`
	Of    string `json:"of,omitempty"` // the figure, if it has a different picture now

	file   string // the file that LaTeX takes; "" if there is none
	digest string
}

var graphicsPath = regexp.MustCompile(`\\graphicspath\s*\{((?:\s*\{[^{}]*\})+)\s*\}`)

func (r *reader) graphicsIn(text string) {
	for _, m := range graphicsPath.FindAllStringSubmatch(text, -1) {
		for _, p := range strings.Split(m[1], "{")[1:] {
			folder, _, _ := strings.Cut(p, "}")
			r.graphics = append(r.graphics, path.Join(r.root, folder))
		}
	}
}

// picture finds and hashes a picture, as LaTeX finds it. Names that contain macros are not followed.
func (r *reader) picture(name string, at spot) error {
	name = strings.Trim(strings.TrimSpace(name), `"`)
	if name == "" || strings.ContainsAny(name, `\#{}`) {
		return nil
	}
	in := Included{Place: r.paper.place(at), Name: name}
	for _, folder := range append([]string{r.root}, r.graphics...) {
		for _, ending := range []string{"", ".pdf", ".png", ".jpg", ".jpeg", ".eps"} {
			if full := path.Join(folder, name+ending); in.file == "" && fs.ValidPath(full) && r.exists(full) {
				in.file = full
			}
		}
	}
	if in.file != "" {
		b, err := fs.ReadFile(r.folder, in.file)
		if err != nil {
			return err
		}
		in.digest = fmt.Sprintf("sha256:%x", sha256.Sum256(b))
	}
	r.paper.pictures = append(r.paper.pictures, in)
	return nil
}

// pictures compares the pictures that a paper includes from a folder figures with the figures; others are the authors'.
func (r *Result) pictures(p *Paper, now *Numbers) {
	stem := func(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }
	for _, in := range p.pictures {
		r.Pictures++
		file := stem(path.Join("/", cmp.Or(in.file, in.Name)))
		of := func(name string) bool { return strings.HasSuffix(file, "/figures/"+name) }
		drawn := slices.IndexFunc(now.Pictures, func(x Picture) bool { return of(path.Base(stem(x.Name))) })
		isPending := slices.ContainsFunc(r.NotRun, func(address string) bool { return of(FileName(address)) })
		switch {
		case in.file == "" && (drawn >= 0 || isPending):
			r.Missing = append(r.Missing, Missed{in.Place, in.Name})
		case in.file == "":
			r.NoPicture = append(r.NoPicture, in)
		case drawn >= 0 && now.Pictures[drawn].Digest != in.digest:
			in.Of = now.Pictures[drawn].Address
			r.OldPicture = append(r.OldPicture, in)
		}
	}
}
