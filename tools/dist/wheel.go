package main

import (
	"archive/zip"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// most is the size that a package index takes without being asked.
const most = 100e6

// addMetadata adds what installers read of a wheel, and returns the wheel's name.
func (r *release) addMetadata() (string, error) {
	programs := map[string][]byte{}
	for name, f := range r.files {
		if f.mode&0o111 != 0 {
			programs[name] = f.data
		}
	}
	platforms, err := tags(programs, r.product == modelsWheel)
	if err != nil {
		return "", err
	}
	p := r.wheelProject()
	readme, err := os.ReadFile(filepath.Join(r.root, "README.md"))
	if err != nil {
		return "", err
	}
	var licences []string
	for name := range r.files {
		if name, ok := strings.CutPrefix(name, info+"licenses/"); ok {
			licences = append(licences, name)
		}
	}
	slices.Sort(licences)
	at := "v" + p.Version
	if strings.Contains(p.Version, "dev") {
		at = "main"
	}
	add := func(name, text string) { r.files[info+name] = file{[]byte(text), 0o644} }
	add("METADATA", p.metadata(r.expression(), licences, string(readme), at))
	text := "Wheel-Version: 1.0\nGenerator: redsi-dist\nRoot-Is-Purelib: false\n"
	for _, platform := range platforms {
		text += "Tag: py3-none-" + platform + "\n"
	}
	add("WHEEL", text)
	if len(p.Scripts) > 0 {
		text = "[console_scripts]\n"
		for _, name := range slices.Sorted(maps.Keys(p.Scripts)) {
			text += name + " = " + p.Scripts[name] + "\n"
		}
		add("entry_points.txt", text)
	}
	stem := strings.ReplaceAll(p.Name, "-", "_") + "-" + p.Version
	inside := strings.NewReplacer("{info}", stem+".dist-info", "{data}", stem+".data")
	files := map[string]file{}
	var b strings.Builder
	record := csv.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		f := r.files[name]
		name = inside.Replace(name)
		files[name] = f
		sum := sha256.Sum256(f.data)
		if err := record.Write([]string{name, "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]), fmt.Sprint(len(f.data))}); err != nil {
			return "", err
		}
	}
	list := stem + ".dist-info/RECORD"
	if err := record.Write([]string{list, "", ""}); err != nil {
		return "", err
	}
	record.Flush()
	files[list] = file{[]byte(b.String()), 0o644}
	r.files = files
	return stem + "-py3-none-" + strings.Join(platforms, ".") + ".whl", record.Error()
}

// expression is the licence of all that is inside.
func (r *release) expression() string {
	all := map[string]bool{"Apache-2.0": true}
	for licence := range r.licences {
		if strings.Contains(licence, " OR ") {
			all["("+licence+")"] = true
			continue
		}
		for one := range strings.SplitSeq(licence, " AND ") {
			all[one] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), " AND ")
}

// writeWheel writes all files by name, what is said about the wheel last.
func (r *release) writeWheel(w io.Writer) error {
	counted := &counter{Writer: w}
	z := zip.NewWriter(counted)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	order := slices.SortedFunc(maps.Keys(r.files), func(a, b string) int {
		rank := func(name string) string {
			switch {
			case strings.HasSuffix(name, ".dist-info/RECORD"):
				return "2"
			case strings.Contains(name, ".dist-info/"):
				return "1" + name
			}
			return "0" + name
		}
		return strings.Compare(rank(a), rank(b))
	})
	for _, name := range order {
		f := r.files[name]
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: r.when}
		h.SetMode(fs.FileMode(f.mode))
		entry, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.data); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if counted.n > most {
		return fmt.Errorf("the wheel has %.1f MB; package indexes take %.0f", float64(counted.n)/1e6, most/1e6)
	}
	return nil
}

type counter struct {
	io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += int64(n)
	return n, err
}
