package realize_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/host/command"
	"github.com/redsi/redsi/internal/host/environment"
	"github.com/redsi/redsi/internal/host/environment/realize"
	"github.com/redsi/redsi/internal/system/testkit"
)

// standIns puts programs that are shell scripts first in PATH, alone but for the system's. Each
// writes its arguments to a file that is returned.
func standIns(t *testing.T, scripts map[string]string) (called string) {
	t.Helper()
	bin := t.TempDir()
	called = filepath.Join(bin, "called")
	for name, script := range scripts {
		testkit.Program(t, filepath.Join(bin, name), "#!/bin/sh\necho "+name+" \"$@\" >> "+called+"\n"+script)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	t.Setenv(realize.Variable, filepath.Join(t.TempDir(), "environments"))
	return called
}

const reference = "index.example/tools@sha256:" + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// An image is fetched once, by its digest and by the first engine that can; a run in it has the
// step's folder and variables, whose values no command line shows.
func TestImage(t *testing.T) {
	user := fmt.Sprintf("--user %d:%d", os.Getuid(), os.Getgid())
	keep := ""
	if os.Getuid() != 0 {
		keep = "--userns keep-id "
	}
	for name, c := range map[string]struct {
		scripts   map[string]string
		made, run string
	}{
		"podman": {map[string]string{"podman": `case "$1" in image) exit 1;; esac`}, "podman image inspect " + reference + "\npodman pull " + reference + "\npodman --version\n",
			"podman run --rm -i --name redsi-p-step-1 --network host --entrypoint  -v /p/step-1:/p/step-1 -w /p/step-1 " + keep + "-e HOME=/p/step-1 -e SECRET " + reference + " fit --k 8"},
		"docker, where podman does not work": {map[string]string{"podman": "exit 1", "docker": ""}, "podman image inspect " + reference + "\npodman pull " + reference + "\ndocker image inspect " + reference + "\ndocker --version\n",
			"docker run --rm -i --name redsi-p-step-1 --network host --entrypoint  -v /p/step-1:/p/step-1 -w /p/step-1 " + user + " -e HOME=/p/step-1 -e SECRET " + reference + " fit --k 8"},
		"apptainer": {map[string]string{"apptainer": ""}, "apptainer pull --force DIR/image.sif docker://" + reference + "\napptainer --version\n",
			"apptainer -s exec --containall --no-home --bind /p/step-1:/p/step-1 --pwd /p/step-1 DIR/image.sif fit --k 8"},
	} {
		t.Run(name, func(t *testing.T) {
			called := standIns(t, c.scripts)
			recipe := textOf(t, environment.Recipe{Kind: environment.Image, Lock: reference})
			h, _, err := use(t, new(realize.Environments), recipe)
			testkit.None(t, err)
			testkit.Is(t, strings.ReplaceAll(testkit.Text(t, called), h.Dir, "DIR"), c.made, "it was fetched by")
			run := command.Run{Argv: []string{"fit", "--k", "8"}, Dir: "/p/step-1", Env: map[string]string{"HOME": "/p/step-1", "PATH": "/x", "SECRET": "planted"}}
			h.Start(&run)
			testkit.Is(t, strings.ReplaceAll(strings.Join(run.Argv, " "), h.Dir, "DIR"), c.run, "a run")
			if run.Env["SECRET"]+run.Env["APPTAINERENV_SECRET"] != "planted" || run.Env["PATH"] == "/x" {
				t.Errorf("its variables are %v", run.Env)
			}
			before := testkit.Text(t, called)
			if _, said, err := use(t, new(realize.Environments), recipe); err != nil || said != "" || testkit.Text(t, called) != before {
				t.Errorf("it is fetched again: %q, %v", said, err)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		standIns(t, nil)
		t.Setenv("PATH", "/nowhere")
		_, _, err := use(t, new(realize.Environments), textOf(t, environment.Recipe{Kind: environment.Image, Lock: reference}))
		testkit.ErrSays(t, err, "this machine has no podman, docker, apptainer, which makes an environment of index.example/tools@")
	})
}

// A SIF file is the one whose digest is in the key, or refused.
func TestSIF(t *testing.T) {
	standIns(t, map[string]string{"apptainer": ""})
	file := filepath.Join(t.TempDir(), "tools.sif")
	testkit.Write(t, file, "image")
	recipe := textOf(t, environment.Recipe{Kind: environment.Image, Lock: "tools.sif", Path: file, Files: map[string]string{"tools.sif": artifacts.Sum([]byte("image")).Hex()}})
	p := new(realize.Environments)
	h, _, err := use(t, p, recipe)
	testkit.None(t, err)
	run := command.Run{Argv: []string{"fit"}, Dir: "/p/step-1", Env: map[string]string{}}
	h.Start(&run)
	if !slices.Contains(run.Argv, file) {
		t.Errorf("it is not run: %v", run.Argv)
	}
	testkit.Write(t, file, "other")
	realize.LookAgain(p)
	testkit.ErrSays(t, h.Unchanged(t.Context()), "the plan was made with "+artifacts.Sum([]byte("image")).Hex())
}

// What conda locks is installed from its URLs and hashes, whatever wrote the lock; what was
// installed is compared with it.
func TestConda(t *testing.T) {
	// A stand-in for micromamba: of each package it makes the record that conda keeps.
	const install = `[ "$1" = --version ] && exit 0
dir=$5; mkdir -p $dir/conda-meta $dir/bin; printf '#!/bin/sh\necho ran\n' > $dir/bin/tool; chmod +x $dir/bin/tool
grep '#' $7 | while IFS='#' read url hash; do
  file=$(basename $url .conda); build=${file##*-}; rest=${file%-*}
  echo "{\"name\":\"${rest%-*}\",\"version\":\"${rest##*-}$OTHER\",\"build\":\"$build\",\"license\":\"MIT\"}" > $dir/conda-meta/$file.json
done`
	called := standIns(t, map[string]string{"micromamba": install})
	hash := strings.Repeat("a", 64)
	folder := map[string]string{"linux-x86_64": "linux-64", "linux-aarch64": "linux-aarch64", "macos-arm64": "osx-arm64"}[environment.Here()]
	text := "version: 1\npackage:\n- {name: tool, version: '1.2', manager: conda, platform: " + folder + ", url: 'https://channel.example/" + folder + "/tool-1.2-h1_0.conda', hash: {sha256: " + hash + "}}\n"
	recipe := textOf(t, environment.Recipe{Kind: environment.Conda, Lock: "conda-lock.yml", Files: map[string]string{"conda-lock.yml": text}})
	h, _, err := use(t, new(realize.Environments), recipe)
	testkit.None(t, err)
	testkit.Is(t, fmt.Sprint(h.List), "[tool 1.2 h1_0 (MIT)]", "its packages")
	if got := strings.ReplaceAll(testkit.Text(t, called), h.Dir, "DIR"); !strings.HasPrefix(got, "micromamba create -y -q -p DIR --file redsi-explicit.txt\n") {
		t.Errorf("it was made by %s", got)
	}
	testkit.Of(t, filepath.Join(h.Dir, "bin", "tool"))(h.Find("tool"))
	run := command.Run{Env: map[string]string{"PATH": "/usr/bin"}}
	h.Start(&run)
	testkit.Is(t, run.Env["PATH"], filepath.Join(h.Dir, "bin")+":/usr/bin")
	testkit.Is(t, run.Env["CONDA_PREFIX"], h.Dir)
	t.Setenv("OTHER", ".9")
	t.Setenv(realize.Variable, t.TempDir())
	_, _, err = use(t, new(realize.Environments), recipe)
	testkit.ErrSays(t, err, "did not install what conda-lock.yml has: tool 1.2 h1_0 -> 1.2.9 h1_0")
}

// A flake is built if it has a package, else the PATH of its shell is taken.
func TestNix(t *testing.T) {
	files := map[string]string{"flake.nix": "{}", "flake.lock": `{"root":"root","nodes":{"root":{}}}`}
	for name, c := range map[string]struct{ script, path string }{
		"package": {`case "$*" in *eval*) ;; *build*) mkdir -p $6/bin; printf "#!/bin/sh\n" > $6/bin/tool; chmod +x $6/bin/tool;; esac`, "DIR/profile/bin"},
		"shell":   {`case "$*" in *eval*) exit 1;; *develop*) mkdir -p $6-bin; printf '#!/bin/sh\n' > $6-bin/tool; chmod +x $6-bin/tool; echo A=b; echo PATH=$6-bin:/nowhere;; esac`, "DIR/profile-bin:/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			called := standIns(t, map[string]string{"nix": c.script})
			h, _, err := use(t, new(realize.Environments), textOf(t, environment.Recipe{Kind: environment.Nix, Lock: "flake.lock", Files: files}))
			testkit.None(t, err)
			testkit.Is(t, strings.ReplaceAll(h.Path(), h.Dir, "DIR"), c.path, "by ", testkit.Text(t, called))
			testkit.None(t, testkit.Err(h.Find("tool")))
			if strings.Contains(testkit.Text(t, called), "update") || strings.Count(testkit.Text(t, called), "--no-write-lock-file") != 2 {
				t.Errorf("it may lock anew: %s", testkit.Text(t, called))
			}
		})
	}
}
