package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/system/testkit"
)

const firstPaper = `variable "scale" {
  description = "How much."
  default     = "toy"
}

variable "shards" { type = list(string) }

step "download" "nq" {
  urls = [for s in var.shards : "https://127.0.0.1/${s}?${var.scale}"]
}

output "texts" {
  description = "All pages."
  value       = { nq = step.download.nq }
}

output "size" { value = length(var.shards) }
`

const secondPaper = `module "first" {
  source = "SOURCE"
  shards = ["a", "b"]
}

module "twice" {
  source   = "SOURCE"
  for_each = { x = "1", y = "2" }
  shards   = [each.value]
}

step "extract" "train" {
  files = module.first.texts.nq.files
  split = "train"
}

output "sizes" {
  value = [module.first.size, module.twice["x"].size]
}
`

// moduleFeatures asks about a document that has firstPaper as modules; file is where that
// is, uses the document's text.
func moduleFeatures(t *testing.T, e *editor, file, uses string) {
	t.Helper()
	if d := e.open("second.hcl", uses); d != "" {
		t.Fatalf("diagnostics of a valid pipeline: %s", d)
	}
	source := strings.SplitN(strings.SplitN(uses, "source = \"", 2)[1], "\"", 2)[0]
	for _, test := range []struct {
		text string
		want []string
	}{
		{uses + "module \"third\" {\n  source = \"" + source + "\"\n  |\n}\n", []string{"shards", "for_each", "otherwise", "scale", "when"}},
		{uses + "module \"third\" {\n  source = \"" + source + "\"\n  sh|", []string{"shards", "for_each", "otherwise", "scale", "when"}},
		{uses + "module \"third\" {\n  |", []string{"source", "for_each", "otherwise", "when"}},
		{uses + "output \"x\" {\n  |\n}\n", []string{"value", "description"}},
		{uses + "locals { x = module.|", []string{"first", "twice"}},
		{uses + "locals { x = module.first.|", []string{"size", "texts"}},
		{uses + "locals { x = module.first.texts.|", []string{"nq"}},
		{uses + "locals { x = module.first.texts.nq.|", []string{"files"}},
		{uses + "locals { x = module.twice[|", []string{`"x"`, `"y"`}},
		{uses + "locals { x = module.twice[\"x\"].|", []string{"size", "texts"}},
		{uses + "step \"extract\" \"dev\" {\n  files = module.first.|\n}\n", []string{"size", "texts"}},
		{strings.Replace(uses, "[each.value]", "[each.|", 1), []string{"key", "value"}},
	} {
		testkit.Deep(t, e.labels("second.hcl", test.text), test.want, test.text[len(uses)-20:])
	}
	e.answers("textDocument/hover", "second.hcl", uses, map[string]string{
		`sha|rds = ["a", "b"]`:   "(list(string), required)",
		`mod|ule "first"`:        "**RUN** `module.first.step.download.nq`",
		`module "fir|st"`:        "`output.texts` All pages.",
		`module.first.te|xts.nq`: "All pages.",
		`module.first.si|ze`:     "```hcl\\n2\\n```",
		`["x"].si|ze`:            "`module.twice[\\\"x\\\"].size`\\n\\n```hcl\\n1\\n```",
		`[module.fir|st.size`:    "The pipeline",
		`output "si|zes"`:        "2, 1",
		`for_e|ach = { x`:        "each.key",
	})
	e.answers("textDocument/definition", "second.hcl", uses, map[string]string{
		`sha|rds = ["a", "b"]`:   file + `","range":{"start":{"line":5,"character":0}`,
		`module.first.te|xts.nq`: file + `","range":{"start":{"line":11,"character":0}`,
		`texts.n|q.files`:        file + `","range":{"start":{"line":11,"character":0}`,
		`["x"].si|ze`:            file + `","range":{"start":{"line":16,"character":0}`,
		`module.tw|ice["x"]`:     `second.hcl","range":{"start":{"line":5,"character":0}`,
		`"` + source[:3] + `|`:   file,
		`[each.va|lue]`:          `second.hcl","range":{"start":{"line":7,"character":2}`,
	})
}

// TestLanguageServerModules: of a folder, whose files may be open as well.
func TestLanguageServerModules(t *testing.T) {
	t.Parallel()
	uses := strings.ReplaceAll(secondPaper, "SOURCE", "./first")
	e := startEditor(t, map[string]string{"first/p.hcl": firstPaper, "second.hcl": uses})
	e.initialize()
	moduleFeatures(t, e, "first/p.hcl", uses)
	e.change("second.hcl", uses)
	testkit.Says(t, e.open("first/p.hcl", firstPaper+"variable \"more\" {}\n"), "Variable without a value")
	testkit.Says(t, e.diagnostics("second.hcl"), "Variable without a value")
	if got := e.labels("second.hcl", strings.Replace(uses, "\"b\"]\n", "\"b\"]\n  |\n", 1)); !slices.Equal(got, []string{"more", "for_each", "otherwise", "scale", "when"}) {
		t.Errorf("offered %v", got)
	}
	e.end()
}

// TestLanguageServerRepository: a module of a git repository is known if it is pinned, and
// is not fetched otherwise.
func TestLanguageServerRepository(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	repository, err := filepath.EvalSymlinks(t.TempDir())
	testkit.None(t, err)
	testkit.Write(t, filepath.Join(repository, "p.hcl"), firstPaper)
	command := func(dir, name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	command(repository, "git", "init", "--quiet", "--initial-branch=main")
	command(repository, "git", "add", ".")
	command(repository, "git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "first")
	uses := strings.ReplaceAll(secondPaper, "SOURCE", "git::file://"+repository+"//p.hcl?ref=main")

	e := startEditor(t, map[string]string{"second.hcl": uses})
	e.initialize()
	testkit.Says(t, e.open("second.hcl", uses), "Module not available")
	testkit.Some(t, testkit.Err(os.Stat(filepath.Join(e.dir, "redsi.lock"))), "the editor pinned it")
	command(e.dir, "redsi", "validate", "-f", "second.hcl")
	moduleFeatures(t, e, "p.hcl", uses)
	e.end()
}
