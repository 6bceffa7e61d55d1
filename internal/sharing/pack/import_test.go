package pack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/sharing/choose"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/testkit"
)

// TestFreeFolder: an archive goes into a folder of its own.
func TestFreeFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.None(t, os.MkdirAll(filepath.Join("full", "x"), 0o755))
	testkit.None(t, os.Mkdir("empty", 0o755))
	for folder, want := range map[string]string{"new": "", "empty": "", "full": "full is not empty", ".": "must be a new one"} {
		at, err := freeFolder(folder)
		if (err == nil) != (want == "") || err != nil && !(strings.Contains(err.Error(), want) && fault.IsInput(err)) || err == nil && !filepath.IsAbs(at) {
			t.Errorf("%s: %s, %v", folder, at, err)
		}
	}
}

// TestOptions: what is wrong with options is said before anything is read.
func TestOptions(t *testing.T) {
	right := Options{File: "x.zip", Choice: choose.Choice{Which: choose.All}}
	for want, change := range map[string]func(o *Options){
		"":                            func(*Options) {},
		"the name must end in .zip":   func(o *Options) { o.File = "x.tar" },
		"want all, tables or none":    func(o *Options) { o.Choice.Which = "some" },
		"--deposit shelf: want zenod": func(o *Options) { o.Deposit = "shelf" },
		"a DOI is written 10.5281/ze": func(o *Options) { o.DOI = "https://doi.org/10.5281/zenodo.1" },
	} {
		o := right
		change(&o)
		if err := o.check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
