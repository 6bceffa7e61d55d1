package general

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/redsi/redsi/internal/system/filetest"
)

// TestUnkeyed: what a step loads that its key does not have is said, by the launchers that it
// starts and the interpreters of which only the file counts.
func TestUnkeyed(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"uv", "conda", "Rscript", "perl", "awk"} {
		filetest.Program(t, filepath.Join(bin, name), "\x7fELF")
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	const r, uv = "packages of R", "packages behind `uv run`"
	for _, x := range []struct {
		is   commandConfig
		want []string
	}{
		{commandConfig{Argv: []string{"awk", "run"}}, nil},
		{commandConfig{Argv: []string{"uv", "--quiet", "run", "fit.py"}}, []string{uv}},
		{commandConfig{Argv: []string{"uv", "--version"}}, nil},
		{commandConfig{Argv: []string{"env", "FOO=a b", "uv", "run", "fit.py"}}, []string{uv}},
		{commandConfig{Argv: []string{"/usr/bin/env", "-S", "A=1 uv run", "fit.py"}}, []string{uv}},
		{commandConfig{Argv: []string{"timeout", "-k", "5", "1h", "nice", "-n", "5", "bash", "-c", "uv run x"}}, []string{uv}},
		{commandConfig{Argv: []string{"env", "A=1", "Rscript", "x.R"}}, []string{r}},
		{commandConfig{Argv: []string{"timeout", "9", "python3.99", "x.py"}}, []string{"packages behind `python3.99`"}},
		{commandConfig{Argv: []string{"timeout", "9", "python3.99", "x.py"}, Programs: []string{"python3.99"}}, nil},
		{commandConfig{Script: "timeout 9 uv run x"}, []string{uv}},
		{commandConfig{Argv: []string{"uv", "tool", "run", "x"}}, []string{uv}},
		{commandConfig{Argv: []string{"python3.99", "-m", "uv", "run", "x"}}, []string{uv}},
		{commandConfig{Argv: []string{"uv", "-v", "--directory", "x", "run", "fit.py"}, Programs: []string{"conda"}}, []string{uv}},
		{commandConfig{Argv: []string{"sh", "-c", "# uv run x\nmake run"}}, nil},
		{commandConfig{Argv: []string{"srun", "-n", "4", "uv", "run", "fit.py"}}, []string{uv}},
		{commandConfig{Argv: []string{"mpirun", "-np", "4", "Rscript", "x.R"}}, []string{r}},
		{commandConfig{Argv: []string{"tox", "-e", "x"}}, []string{"packages behind `tox`"}},
		{commandConfig{Argv: []string{"guix", "shell", "x"}}, []string{"packages behind `guix shell`"}},
		{commandConfig{Argv: []string{"nix", "develop", "-c", "make"}}, []string{"packages behind `nix develop`"}},
		{commandConfig{Argv: []string{"pixi", "r", "fit"}}, []string{"packages behind `pixi r`"}},
		{commandConfig{Argv: []string{"uvx", "ruff"}}, []string{"packages behind `uvx`"}},
		{commandConfig{Argv: []string{"conda", "run", "-n", "x", "python"}}, []string{"packages behind `conda run`"}},
		{commandConfig{Argv: []string{"Rscript", "x.R"}, Programs: []string{"perl", "Rscript"}}, []string{"packages of Perl", r}},
		{commandConfig{Argv: []string{"julia", "x.jl"}}, []string{"packages of Julia"}}, // not installed here
		{commandConfig{Argv: []string{"./x"}, Files: map[string]string{"x": "#!/usr/bin/env -S uv run --script\n"}}, []string{uv}},
		{commandConfig{Script: "#!/usr/bin/env Rscript\n"}, []string{r}},
		{commandConfig{Script: "cd tmp && uv run fit.py | sort\npython3.99 a.py\nRscript x.R", Programs: []string{"Rscript", "uv"}},
			[]string{"packages behind `python3.99`", uv, r}},
		{commandConfig{Argv: []string{"bash", "-c", "for x in a b; do time python3.99 -m kd $x; perl x.pl; done"}}, []string{"packages behind `python3.99`", "packages of Perl"}},
		{commandConfig{Script: "python3.99 x.py; perl x.pl", Programs: []string{"python3.99", "perl"}}, []string{"packages of Perl"}},
		{commandConfig{Script: "python3.99 x.py", programConfig: programConfig{Environment: &environmentUse{Kind: "uv"}}}, nil},
		{commandConfig{Argv: []string{"sh", "-c", "uv run x"}}, []string{uv}},
		{commandConfig{Script: "Rscript x.R", programConfig: programConfig{Environment: &environmentUse{Kind: "conda"}}}, nil},
		{commandConfig{Argv: []string{"Rscript"}, programConfig: programConfig{Environment: &environmentUse{Kind: "image"}}}, nil},
	} {
		x.is.ProgramLibraries = true
		if got := x.is.unkeyed(); !slices.Equal(got, x.want) {
			t.Errorf("%q %q: %q, want %q", x.is.Argv, x.is.Script, got, x.want)
		}
		x.is.ProgramLibraries = false
		if got := x.is.unkeyed(); got != nil {
			t.Errorf("%q without packages: %q", x.is.Argv, got)
		}
	}
}
