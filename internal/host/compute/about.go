package compute

import (
	"debug/buildinfo"
	"debug/elf"
	"path/filepath"
	"regexp"

	"github.com/redsi/redsi/internal/host/revision"
)

// libtorchPart is the libtorch that make links with, as a program's search path names it.
var libtorchPart = regexp.MustCompile(`/libtorch/([0-9.]+)-`)

// About is which release a second program is of, and which libtorch it takes, as far as files
// tell without starting it: those of wheels beside it, or what its build recorded. Else "".
func About(program string) (release, libtorch string) {
	environment := filepath.Dir(filepath.Dir(program))
	if release = revision.Installed(environment, "redsi_models"); release != "" {
		return release, revision.Installed(environment, "torch")
	}
	if info, err := buildinfo.ReadFile(program); err == nil && info.Main.Version != "(devel)" {
		release = info.Main.Version
	}
	f, err := elf.Open(program)
	if err != nil {
		return release, "" // macOS's
	}
	defer f.Close()
	paths, _ := f.DynString(elf.DT_RUNPATH) // none: it is of no make
	for _, path := range paths {
		if m := libtorchPart.FindStringSubmatch(path); m != nil {
			libtorch = m[1]
		}
	}
	return release, libtorch
}
