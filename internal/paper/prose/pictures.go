package prose

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/agext/levenshtein"
)

// Picture is a file of a figure, as redsi report --latex writes it.
type Picture struct {
	Address string
	Name    string // figures/NAME.pdf
	Digest  string // sha256:…
}

// included is a picture that a paper includes.
type included struct {
	place  Place
	name   string // as typed
	file   string // what LaTeX takes; "" if there is none
	digest string
}

// Included is an \includegraphics that is wrong.
type Included struct {
	Place Place  `json:"place"`
	Name  string `json:"name"`
	Of    string `json:"of,omitempty"`   // the figure that has another picture now
	Near  string `json:"near,omitempty"` // of one that does not exist: the nearest that redsi writes
}

var (
	graphicsPath  = regexp.MustCompile(`\\graphicspath\s*\{((?:\s*\{[^{}]*\})+)\s*\}`)
	graphicsPaths = regexp.MustCompile(`\{([^{}]*)\}`)
)

// graphicsIn notes the folders that a file says pictures are in.
func (r *reader) graphicsIn(text string) {
	for _, m := range graphicsPath.FindAllStringSubmatch(text, -1) {
		for _, p := range graphicsPaths.FindAllStringSubmatch(m[1], -1) {
			r.graphics = append(r.graphics, path.Join(r.root, p[1]))
		}
	}
}

// picture finds and hashes a picture, as LaTeX finds it. Names that macros make are not followed.
func (r *reader) picture(name string, at spot) error {
	name = strings.TrimSpace(strings.Trim(strings.TrimSpace(name), `"`))
	if name == "" || strings.ContainsAny(name, `\#{}`) {
		return nil
	}
	in := included{place: r.paper.place(at), name: name}
	for _, folder := range append([]string{r.root}, r.graphics...) {
		for _, ending := range []string{"", ".pdf", ".png", ".jpg", ".jpeg", ".eps"} {
			full := path.Join(folder, name+ending)
			if in.file == "" && fs.ValidPath(full) && !path.IsAbs(name) && r.exists(full) {
				in.file = full
			}
		}
	}
	if in.file != "" {
		f, err := r.folder.Open(in.file)
		if err != nil {
			return err
		}
		defer f.Close()
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			return err
		}
		in.digest = "sha256:" + hex.EncodeToString(h.Sum(nil))
	}
	r.paper.pictures = append(r.paper.pictures, in)
	return nil
}

// pictures compares the pictures that a paper includes with those of the figures. Others that
// exist are the authors' own.
func (r *Result) pictures(p *Paper, now *Numbers) {
	for _, in := range p.pictures {
		r.Pictures++
		made, ok := now.picture(in)
		switch {
		case in.file == "" && ok:
			r.Missing = append(r.Missing, Missed{in.place, in.name})
		case in.file == "" && r.notRun(in.name):
			r.Waiting = append(r.Waiting, Use{Place: in.place, Name: in.name})
		case in.file == "":
			r.NoPicture = append(r.NoPicture, Included{Place: in.place, Name: in.name, Near: now.nearestPicture(in.name)})
		case ok && made.Digest != in.digest:
			r.OldPicture = append(r.OldPicture, Included{Place: in.place, Name: in.name, Of: made.Address})
		}
	}
}

// picture finds the figure that an included file is of: one of its name, in a folder figures.
func (n *Numbers) picture(in included) (Picture, bool) {
	for _, p := range n.Pictures {
		name := path.Clean(in.name)
		if in.file != "" {
			name = in.file
		} else if path.Ext(name) == "" {
			name += path.Ext(p.Name)
		}
		if name == p.Name || strings.HasSuffix(name, "/"+p.Name) {
			return p, true
		}
	}
	return Picture{}, false
}

// notRun reports whether a file will be that of a figure that has not run.
func (r *Result) notRun(name string) bool {
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	for _, address := range r.NotRun {
		if strings.HasPrefix(address, "figure.") && FileName(address) == base && path.Base(path.Dir(name)) == "figures" {
			return true
		}
	}
	return false
}

func (n *Numbers) nearestPicture(name string) (near string) {
	least := max(2, len(name)/2) + 1
	for _, p := range n.Pictures {
		if d := levenshtein.Distance(clip(path.Base(name)), clip(path.Base(p.Name)), nil); d < least {
			near, least = p.Name, d
		}
	}
	return near
}
