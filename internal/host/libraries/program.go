package libraries

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/script"
)

// Original is the digest of what conda made a file from that now has the digest here: conda writes
// the environment's folder into programs, and notes what they were before. It is here for all
// other files.
func Original(program string, here artifacts.Digest) (artifacts.Digest, error) {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return here, err
	}
	for prefix := filepath.Dir(real); prefix != filepath.Dir(prefix); prefix = filepath.Dir(prefix) {
		meta := filepath.Join(prefix, "conda-meta")
		records, err := os.ReadDir(meta)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return here, err
		}
		rel, _ := filepath.Rel(prefix, real) // it is below it
		quoted, _ := json.Marshal(rel)
		for _, record := range records {
			at := filepath.Join(meta, record.Name())
			if filepath.Ext(at) != ".json" {
				continue
			}
			text, err := readBounded(at, maxJSON)
			if err != nil {
				return here, err
			}
			if !bytes.Contains(text, quoted) { // most packages: parsing them takes long
				continue
			}
			pkg, err := condaPackageOf(at, text)
			if err != nil {
				return here, err
			}
			for _, f := range pkg.Paths.Paths {
				was, err := artifacts.ParseHex(f.SHA)
				if f.Path == rel && err == nil && strings.EqualFold(f.Here, here.Hex()) {
					return was, nil
				}
			}
		}
		break
	}
	return here, nil
}

// Installed is the digest of what an installer made a program of Python from, which has the digest
// here: of the entry point that it starts or, where no record vouches for that, of its text after
// the lines that name the environment's Python. It is here for all other files, and for a
// script that is not in one folder with its Python.
func Installed(program string, here artifacts.Digest, look Lookup) (artifacts.Digest, error) {
	text, err := launched(program)
	if text == "" || err != nil {
		return here, err
	}
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return here, err
	}
	l := script.Launch(text, program)
	folder, err := filepath.EvalSymlinks(filepath.Dir(l.Interpreter))
	if err != nil || folder != filepath.Dir(real) || !filepath.IsAbs(l.Interpreter) || Language(l.Interpreter) != python {
		return here, nil
	}
	p, ok, err := locate(program, look)
	if !ok || err != nil {
		return here, err
	}
	for _, site := range p.Sites {
		if entry := entryPoint(site, real, here); entry != "" {
			return artifacts.Sum([]byte("entry point " + entry)), nil
		}
	}
	return artifacts.Sum([]byte("script " + l.Options + "\n" + l.Rest)), nil
}

// launched is the text of a program that begins with "#!"; "" of another file, and of an archive
// that unpacks itself.
func launched(program string) (string, error) {
	f, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, 2)
	info, err := f.Stat()
	if _, rerr := f.Read(head); errors.Join(err, rerr) != nil || string(head) != "#!" || info.Size() > maxRecord {
		return "", nil
	}
	text, err := readBounded(program, maxRecord)
	return string(text), err
}

// entryPoint is such as "kedro = kedro.framework.cli:main", of a program that a distribution in a
// site folder lists with its digest as installed; "" if none does.
func entryPoint(site, program string, here artifacts.Digest) string {
	infos, _ := os.ReadDir(site) // what cannot be read is told by read
	for _, info := range infos {
		at := filepath.Join(site, info.Name())
		if filepath.Ext(at) != ".dist-info" {
			continue
		}
		entries, _ := readBounded(filepath.Join(at, "entry_points.txt"), maxJSON)
		starts := consoleScript(string(entries), filepath.Base(program))
		if starts == "" {
			continue
		}
		record, _ := readBounded(filepath.Join(at, "RECORD"), maxRecord)
		for line := range strings.Lines(string(record)) {
			if name, sum, _ := recordLine(line); recordSum(sum) == here && filepath.Join(site, name) == program {
				return filepath.Base(program) + " = " + starts
			}
		}
	}
	return ""
}

// consoleScript is what a script of that name starts, as an entry_points.txt has it.
func consoleScript(entries, name string) string {
	group := ""
	for line := range strings.Lines(entries) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "[") {
			group = strings.Trim(line, "[] ")
			continue
		}
		key, starts, _ := strings.Cut(line, "=")
		if strings.TrimSpace(key) == name && (group == "console_scripts" || group == "gui_scripts") {
			starts, _, _ = strings.Cut(starts, "[") // extras
			return strings.ReplaceAll(starts, " ", "")
		}
	}
	return ""
}
