package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redsi/redsi/internal/pipeline"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/step"
)

const opaqueSource = `
step "download" "a" { url = "https://lab.example.org/a" }
step "download" "b" {
  for_each = toset(["x", "y"])
  url      = each.key
}
variable "none" {
  type    = any
  default = null
}
`

func opaqueScope(t *testing.T) *pipeline.Scope {
	t.Helper()
	s, p, ds := pipeline.Open(map[string][]byte{"p.hcl": []byte(opaqueSource)}, pipeline.Options{Registry: kinds(),
		World: pipeline.World{ReadFile: func(string) ([]byte, error) { return []byte("1"), nil },
			List: func(string, string) ([]string, error) { return []string{"1"}, nil }, Digest: func(string) (step.Pin, error) { return step.Pin{}, nil }}})
	if p == nil {
		t.Fatal(ds.Err())
	}
	return s
}

// evaluated is the text of a value, or the summary of what is wrong.
func evaluated(s *pipeline.Scope, expression string) (text string, failed bool) {
	v, ds := s.Value(pipeline.WholeExpression("e", []byte(expression)))
	if ds.HasErrors() {
		return ds.List[0].Summary, true
	}
	return language.Text(v, nil), false
}

const opaqueTitle = "Artifact used as a value"

// Whatever takes an artifact where a text would do either hands it on or says what an
// artifact is, also within try and can. This goes over all functions: a new one that
// hands artifacts on is added here, after a thought.
func TestArtifactInFunctions(t *testing.T) {
	s := opaqueScope(t)
	handsOn := map[string]bool{
		"product": true, "chunklist": true, "coalesce": true, "coalescelist": true, "concat": true, "element": true,
		"flatten": true, "keys": true, "length": true, "lookup": true, "merge": true, "one": true, "reverse": true, "setproduct": true,
		"slice": true, "values": true, "zipmap": true, "tolist": true, "tomap": true, "try": true, "can": true,
	}
	const it, one = "step.download.a.file", `"1"`
	with := []string{it, "[" + it + "]", "{ a = " + it + " }", "{ a = { k = " + it + " } }", one, "1", "[" + one + "]", "[true]", "null"}
	var calls [][]string
	for _, a := range with {
		calls = append(calls, []string{a})
		for _, b := range with {
			calls = append(calls, []string{a, b})
			for _, c := range []string{it, one} {
				calls = append(calls, []string{a, b, c})
			}
		}
	}
	calls = append(calls, []string{it, "[]"}, []string{it, `"json"`}, []string{"{ a = [" + it + "] }"}, []string{"[" + one + "]", "[" + it + "]", "[" + one + "]"})
	for _, f := range language.Functions() {
		if f.Name == "files" || f.Name == "json" { // they look into artifacts: see TestMade
			continue
		}
		refused, handed := 0, 0
		for _, args := range calls {
			call := fmt.Sprintf("%s(%s)", f.Name, strings.Join(args, ", "))
			tooMany := len(args) > 1+strings.Count(f.Usage, ",") && !strings.Contains(f.Usage, "...")
			if !strings.Contains(call, it) || tooMany || len(args) > 2 && strings.Contains(f.Usage, "(lists...") {
				continue
			}
			got, failed := evaluated(s, call)
			_, textFails := evaluated(s, strings.ReplaceAll(call, it, one))
			switch {
			case !failed && handsOn[f.Name]:
				handed++
			case !failed:
				t.Errorf("%s is %s", call, got)
			case !textFails && !handsOn[f.Name]:
				refused++
				if got != opaqueTitle {
					t.Errorf("%s fails with %q", call, got)
				}
				if got, failed := evaluated(s, "try("+call+", 7)"); !failed || got != opaqueTitle {
					t.Errorf("within try, %s is %s", call, got)
				}
			}
		}
		if handsOn[f.Name] && handed == 0 {
			t.Errorf("%s() never hands an artifact on", f.Name)
		}
		if takesText := f.Group != "Numbers" && f.Name != "range" && f.Name != "base64decode" && f.Name != "tomldecode"; !handsOn[f.Name] && refused == 0 && takesText {
			t.Errorf("%s() was never given an artifact where a text would do", f.Name)
		}
	}
}

// The same of operators and of all other places where the language wants a value.
func TestArtifactInExpressions(t *testing.T) {
	s := opaqueScope(t)
	expressions := []string{
		`-@`, `!@`, `@ ? 1 : 2`, `"a${@}"`, `"%{ if @ }a%{ endif }"`, `"%{ for x in @ }a%{ endfor }"`, `{ (@) = 1 }`, `{ a = 1 }[@]`, `[1][@]`,
		`[for x in @ : x]`, `[for x in [1] : x if @]`, `{ for x in [1] : @ => x }`, `{ for x in [1] : @ => x... }`,
		`@.x`, `@["x"]`, `@[0]`, `@[*].x`, `@.*.x`, `(@).x`, `(@)["x"]`, `step.download.b[*].file.x`,
		`length(@)`, `keys(@)`, `coalesce(@, "a")`, `merge(@, {})`, `lookup({ a = 1 }, @, 2)`, `element([1], @)`,
		`concat(@, [])`, `flatten(@)`, `values(@)`, `tolist(@)`, `tomap(@)`, `slice(@, 0, 1)`, `join(",", [@])`, `sort([@, @])`,
		`try(@.x, try(@ == "a", 1))`,
	}
	for _, op := range []string{"==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&&", "||"} {
		for _, form := range []string{"@ %s 1", `"true" %s @`, `@ %s @`} {
			if !strings.Contains("==!=&&||", op) {
				form = strings.Replace(form, "true", "1", 1)
			}
			expressions = append(expressions, fmt.Sprintf(form, op))
		}
	}
	for _, op := range []string{"==", "!="} {
		for _, form := range []string{`[@] %s ["a"]`, `{ a = "a" } %s { a = @ }`, `[] %s step.download.b[*].file`, `@ %s step.download.b["x"].file`, `step.download.a %s "a"`, `(@ %s "a") && false`} {
			expressions = append(expressions, fmt.Sprintf(form, op))
		}
	}
	for _, e := range expressions {
		e = strings.ReplaceAll(e, "@", "step.download.a.file")
		for _, form := range []string{"%s", "try(%s, 7)", "can(%s)", "[for i in [1] : try(%s, 7)]", "try(local.none, try(%s, 7))"} {
			form = strings.ReplaceAll(form, "local.none", `tonumber("x")`)
			_, ds := s.Value(pipeline.WholeExpression("e", fmt.Appendf(nil, form, e)))
			if !ds.HasErrors() {
				if strings.Contains(e, "&& false") {
					continue // what decides is known
				}
				t.Errorf("%s is evaluated", fmt.Sprintf(form, e))
				continue
			}
			d := ds.List[0]
			at := d.Subject.Start.Byte
			if d.Summary != opaqueTitle || !strings.Contains(d.Detail, "json(ARTIFACT") || at < strings.Index(form, "%") {
				t.Errorf("%s at %d: %s: %.200s", fmt.Sprintf(form, e), at, d.Summary, d.Detail)
			}
		}
	}
}

// What chooses among artifacts works.
func TestArtifactChosen(t *testing.T) {
	s := opaqueScope(t)
	const a, x, y = "step.download.a.file", `step.download.b["x"].file`, `step.download.b["y"].file`
	for expression, want := range map[string]string{
		`coalesce(var.none, ` + a + `)`:                            a,
		`lookup({ a = ` + a + ` }, "a", ` + x + `)`:                a,
		`true ? ` + a + ` : ` + x:                                  a,
		`var.none == null ? ` + a + ` : var.none`:                  a,
		a + ` != null ? ` + a + ` : ` + x:                          a,
		`[` + a + `] == null`:                                      "false",
		`merge({ a = ` + x + ` }, { a = ` + a + ` }).a`:            a,
		`try(step.download.a.nothing, ` + a + `)`:                  a,
		`can(step.download.a.nothing)`:                             "false",
		`can(` + a + `)`:                                           "true",
		`try(step.download.b["z"].file, null)`:                     "null",
		`try(lookup(step.download.b, "z").file, ` + a + `)`:        a,
		`step.download.b[*].file`:                                  "[" + x + ", " + y + "]",
		`length(step.download.b[*].file) == 2`:                     "true",
		`contains(keys(step.download.b), "x")`:                     "true",
		`[for k, v in step.download.b : v.file if k != "x"]`:       "[" + y + "]",
		`zipmap(["k"], [` + a + `])`:                               "{ k = " + a + " }",
		`{ for k, v in step.download.b : v.file != null => k... }`: "{ true = [\"x\", \"y\"] }",
	} {
		if got, _ := evaluated(s, expression); got != want && got != strings.Replace(want, "{ true", "{ \"true\"", 1) {
			t.Errorf("%s is %s, not %s", expression, got, want)
		}
	}
}
