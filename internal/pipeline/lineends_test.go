package pipeline_test

import (
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/local"
	"github.com/redsi/redsi/internal/system/errtest"
)

// TestLineEnds: a pipeline that git has checked out with CRLF means what it does with LF. Texts in
// quotes and what file() reads are as they are.
func TestLineEnds(t *testing.T) {
	const source = `variable "v" {
  default = <<-EOT
    a

      b
  EOT
}
variable "given" {}
variable "own" {}
locals {
  plain = <<EOT
one
  two
EOT
  parts = <<-EOT
    %{ for x in ["p", "q"] ~}
    x = ${x}

    %{ endfor ~}
    ${ <<X
within
X
    } end
  EOT
  quoted   = "a\r\nb"
  template = templatefile("t.tpl", { x = 1 })
  file     = file("t.tpl")
}
`
	const variables = "given = <<-EOT\n  c\n  d\nEOT\n"
	const template = "x = ${x}\n%{ if true }\ny\n%{ endif }\n"
	values := func(end string) map[string]string {
		as := func(text string) []byte { return []byte(strings.ReplaceAll(text, "\n", end)) }
		set, ds := local.Parse("redsi.local.hcl", as("variables {\n  own = <<EOT\ne\nEOT\n}\n"), "")
		errtest.None(t, ds.Err())
		s, _, ds := pipeline.Open(map[string][]byte{"p.hcl": as(source)}, pipeline.Options{
			Registry: kinds(), VarFiles: []pipeline.File{{Name: "v.hcl", Bytes: as(variables)}},
			Local: set.Variables,
			World: pipeline.World{ReadFile: func(string) ([]byte, error) { return as(template), nil }},
		})
		errtest.None(t, ds.Err())
		m := map[string]string{}
		for _, name := range []string{"var.v", "var.given", "var.own", "local.plain", "local.parts", "local.quoted", "local.template", "local.file"} {
			v, _ := s.Named(name)
			m[name] = v.AsString()
		}
		return m
	}
	unix := values("\n")
	for name, got := range values("\r\n") {
		want := unix[name]
		if name == "local.file" {
			want = strings.ReplaceAll(want, "\n", "\r\n")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if unix["local.quoted"] != "a\r\nb" {
		t.Errorf("%q", unix["local.quoted"])
	}
}
