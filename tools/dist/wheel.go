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
	var b strings.Builder
	record := csv.NewWriter(&b)
	// What is said about a wheel sorts last, and its list comes after that.
	r.order = slices.Sorted(maps.Keys(r.files))
	for i, name := range r.order {
		f := r.files[name]
		r.order[i] = inside.Replace(name)
		r.files[r.order[i]] = f
		sum := sha256.Sum256(f.data)
		_ = record.Write([]string{r.order[i], "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]), fmt.Sprint(len(f.data))}) // to memory
	}
	list := stem + ".dist-info/RECORD"
	_ = record.Write([]string{list, "", ""})
	record.Flush()
	r.order, r.files[list] = append(r.order, list), file{[]byte(b.String()), 0o644}
	return stem + "-py3-none-" + strings.Join(platforms, ".") + ".whl", nil
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

func (r *release) writeWheel(w io.Writer) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, name := range r.order {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: r.when}
		h.SetMode(fs.FileMode(r.files[name].mode))
		entry, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := entry.Write(r.files[name].data); err != nil {
			return err
		}
	}
	return z.Close()
}
