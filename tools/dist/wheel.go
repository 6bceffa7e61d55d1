package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// addMetadata adds the files that installers read, and returns the wheel's name.
func (r *release) addMetadata() (string, error) {
	p, err := r.project()
	if err != nil {
		return "", err
	}
	var programs []string
	for _, f := range r.files {
		if f.mode == 0o755 {
			programs = append(programs, f.path)
		}
	}
	platforms, err := tags(r.platform, programs)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := metadata.Execute(&b, p); err != nil {
		return "", err
	}
	add := func(name, text string) { r.files[about+name] = file{data: []byte(text), mode: 0o644} }
	add("METADATA", b.String())
	add("WHEEL", "Wheel-Version: 1.0\nGenerator: redsi-dist\nRoot-Is-Purelib: false\nTag: py3-none-"+strings.Join(platforms, "\nTag: py3-none-")+"\n")
	if p.script != "" {
		add("entry_points.txt", "[console_scripts]\n"+p.script+"\n")
	}
	return r.stem() + "-py3-none-" + strings.Join(platforms, ".") + ".whl", nil
}

// stem begins the names of a wheel and of its folders.
func (r *release) stem() string { return strings.ReplaceAll(r.product, "-", "_") + "-" + r.version }

// writeWheel writes all files by name: first what it installs, then the files about the wheel, their list last.
func (r *release) writeWheel(w io.Writer) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	write := func(name string, mode uint32, data []byte) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: r.when}
		h.SetMode(fs.FileMode(mode))
		entry, err := z.CreateHeader(h)
		if err == nil {
			_, err = entry.Write(data)
		}
		return err
	}
	inside := strings.NewReplacer("{info}", r.stem()+".dist-info", "{data}", r.stem()+".data")
	var list bytes.Buffer
	record := csv.NewWriter(&list)
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		f := r.files[name]
		data, err := f.content()
		if err != nil {
			return err
		}
		name = inside.Replace(name)
		if err := write(name, f.mode, data); err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		_ = record.Write([]string{name, "sha256=" + base64.RawURLEncoding.EncodeToString(sum[:]), fmt.Sprint(len(data))}) // to memory
	}
	name := inside.Replace(about + "RECORD")
	_ = record.Write([]string{name, "", ""})
	record.Flush()
	if err := write(name, 0o644, list.Bytes()); err != nil {
		return err
	}
	return z.Close()
}
