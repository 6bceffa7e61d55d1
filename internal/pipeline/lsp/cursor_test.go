package lsp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redsi/redsi/internal/system/testkit"
)

// TestPlace: where the end of a text is, "|" for where the text that is read begins.
func TestPlace(t *testing.T) {
	body := []header{{"step", []string{"train", "dsi"}}}
	for src, want := range map[string]place{
		"":                                     {where: inBody},
		"st":                                   {where: inBody, word: "st"},
		"step ":                                {where: inComment},
		`step "tr`:                             {where: inLabel, label: 0, quote: true, word: "tr", blocks: []header{{"step", []string{}}}},
		`step "train" "`:                       {where: inLabel, label: 1, quote: true, blocks: []header{{"step", []string{"train"}}}},
		`step "train" "dsi" {`:                 {where: inBody, blocks: body},
		"step \"train\" \"dsi\" {\n  mod":      {where: inBody, blocks: body, word: "mod"},
		"step \"train\" \"dsi\" {\n  model = ": {where: inValue, blocks: body, path: []string{"model"}},
		"step \"train\" \"dsi\" {\n  a = 1 # of\n  model = st":       {where: inValue, blocks: body, path: []string{"model"}, word: "st"},
		"step \"train\" \"dsi\" {\n  model = step.a.":                {where: inValue, blocks: body, path: []string{"model"}, before: []string{"step", "a"}},
		"step \"train\" \"dsi\" {\n  model = step.a.b[\"k\"].o":      {where: inValue, blocks: body, path: []string{"model"}, before: []string{"step", "a", "b", `["k"]`}, word: "o"},
		"step \"train\" \"dsi\" {\n  model = step.a.b[\"k":           {where: inValue, blocks: body, quote: true, index: true, before: []string{"step", "a", "b"}, word: "k"},
		"step \"train\" \"dsi\" {\n  model = f(1).":                  {where: inComment, blocks: body, path: []string{"model"}},
		"step \"train\" \"dsi\" {\n  l = [{ id = \"x\", t":           {where: inBody, blocks: body, path: []string{"l", "[]", "{}"}, word: "t"},
		"step \"train\" \"dsi\" {\n  l = concat([{ id = ":            {where: inValue, blocks: body, path: []string{"l", "[]", "id"}},
		"step \"train\" \"dsi\" {\n  l = [for x in y : { id = x.":    {where: inValue, blocks: body, path: []string{"l", "[]", "id"}, before: []string{"x"}},
		"step \"train\" \"dsi\" {\n  l = { for k, v in y : k => v.":  {where: inValue, blocks: body, path: []string{"l", "{}"}, before: []string{"v"}},
		"step \"train\" \"dsi\" {\n  s = \"a ${local.":               {where: inValue, blocks: body, before: []string{"local"}},
		"step \"train\" \"dsi\" {\n  s = \"a ${b}":                   {where: inValue, blocks: body, quote: true, path: []string{"s"}, word: "a ${b}"},
		"step \"train\" \"dsi\" {\n  s = length(lo":                  {where: inValue, blocks: body, word: "lo"},
		"step \"train\" \"dsi\" {\n  resources { queue = \"":         {where: inValue, blocks: append(body[:1:1], header{"resources", []string{}}), quote: true, path: []string{"queue"}},
		"locals {\n  a = \"broken\n}\nstep \"train\" \"dsi\" {\n  b": {where: inBody, blocks: body, word: "b"},
		"step \"train\" \"dsi\" {\n  model = step ":                  {where: inComment, blocks: body, path: []string{"model"}},
		"step \"train\" \"dsi\" {\n  model = [for x in ":             {where: inValue, blocks: body, path: []string{"model", "[]"}},
		"# step.":  {where: inComment},
		"}}}\nloc": {where: inBody, word: "loc"},
	} {
		got := placeAt(src, len(src))
		if d := cmp.Diff(want, got, cmp.AllowUnexported(place{}, header{})); d != "" {
			t.Errorf("%q (-want +got):\n%s", src, d)
		}
	}
}

// TestAnyPlace asks about offsets in real files, of which what follows is not read.
func TestAnyPlace(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "examples", "*.hcl"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		testkit.None(t, err)
		askEvery(t, 29, string(b))
	}
}

func askEvery(t *testing.T, bytes int, src string) {
	for i := 0; i <= len(src); i += bytes {
		if p := placeAt(src, i); !strings.HasSuffix(src[:i], p.word) {
			t.Fatalf("at %d of %q the word is %q", i, src, p.word)
		}
		if start, end, ok := under(src, i); ok && (start > i || end < i || end > len(src)) {
			t.Fatalf("under %d of %q is %d to %d", i, src, start, end)
		}
	}
}

func FuzzPlace(f *testing.F) {
	f.Add("step \"a\" \"b\" {\n  x = \"${step.a[\"k\"].\"]})%{ if\n}")
	f.Add("locals { a = <<E\n ${b.\nE\n c = ]}[ }")
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) < 100 {
			askEvery(t, 1, src)
			declarations("x.hcl", []byte(src))
		}
	})
}

func TestPositions(t *testing.T) {
	x := newText("aé😀e\u0301\nb\n")
	for offset, want := range map[int]position{0: {0, 0}, 1: {0, 1}, 3: {0, 2}, 7: {0, 4}, 8: {0, 5}, 10: {0, 6}, 11: {1, 0}, 12: {1, 1}, 13: {2, 0}} {
		testkit.Is(t, x.position(offset), want, offset)
		testkit.Is(t, x.offset(want), offset, want)
	}
	for p, want := range map[position]int{{0, 99}: 10, {9, 0}: 13, {-1, -1}: 0, {1, -5}: 11} {
		testkit.Is(t, x.offset(p), want, p)
	}
}
