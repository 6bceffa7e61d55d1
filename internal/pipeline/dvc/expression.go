package dvc

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline"
)

// value evaluates an expression of the new pipeline, for the first instance of a stage; all
// has all of them.
func (c *conversion) value(expr string, s *stage) (cty.Value, error) {
	if err := c.ctx.Err(); err != nil {
		return cty.DynamicVal, err
	}
	x := pipeline.WholeExpression("dvc.yaml", []byte(expr))
	x.With = map[string]cty.Value{"local": cty.ObjectVal(c.local), "each": s.all[0], "all": cty.TupleVal(s.all)}
	v, ds := c.scope.Value(x)
	if ds.HasErrors() {
		return v, errors.New(ds.List[0].Detail)
	}
	return v, nil
}

// plain is the value of an expression as JSON has it.
func (c *conversion) plain(expr string) (out any, err error) {
	v, err := c.value("jsonencode("+expr+")", c.top)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(v.AsString()))
	d.UseNumber()
	return out, d.Decode(&out)
}

var (
	template = regexp.MustCompile(`(\\*)\$+\{\s*([\w-]+)([^{}]*?)\s*\}`) // escaped, or as it is
	escapes  = strings.NewReplacer("${", "$${", "%{", "%%{")
)

var underscored = regexp.MustCompile(`^[-+]?[0-9][0-9a-fA-FxobX]*_[0-9a-fA-F_.]*$`)

// reference is the expression for a name in a template: train.lr, item, item.sizes[0]. DVC
// refuses one without a value.
func (c *conversion) reference(s *stage, root, rest string) string {
	expr := s.names[root] + rest
	v, err := c.value(expr, s)
	if err == nil && v.Type().IsObjectType() { // an option for each entry, as DVC writes them
		expr = fmt.Sprintf(`join(" ", [for k, v in %s : v == true ? "--${k}" : "--${k} '${replace(v, "'", "'\\''")}'" if v != false])`, expr)
		_, err = c.value(expr, s)
	}
	if err == nil && v.Type() == cty.String && v.IsKnown() && underscored.MatchString(v.AsString()) {
		c.note(s, "${%s%s} is the text %s, which DVC reads as a number: write it without _", root, rest, v.AsString())
	}
	if err != nil {
		c.failed = cmp.Or(c.failed, fmt.Errorf("${%s%s} has no value, or none that can stand in a text", root, rest))
	}
	return expr
}

// text writes a text in which templates are references; escape is for what is around them.
func (c *conversion) text(s *stage, text string, escape func(string) string) string {
	return template.ReplaceAllStringFunc(escape(text), func(found string) string {
		m := template.FindStringSubmatch(found)
		if m[1] != "" { // it is the shell's
			return strings.TrimLeft(found, `\`)
		}
		return "${" + c.reference(s, m[2], m[3]) + "}"
	})
}

func quote(s string) string { return escapes.Replace(fmt.Sprintf("%q", s)) }

// escaped is a text within quotes.
func escaped(s string) string {
	q := quote(s)
	return q[1 : len(q)-1]
}

// raw is an expression among values of dvc.yaml.
type raw string

func (c *conversion) literal(s *stage, v any) string {
	var parts []string
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			name := k
			if !hclsyntax.ValidIdentifier(k) {
				name = `"` + c.text(s, k, escaped) + `"`
			}
			parts = append(parts, name+" = "+c.literal(s, v[k]))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case []any:
		for _, e := range v {
			parts = append(parts, c.literal(s, e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		if m := template.FindStringSubmatch(v); m != nil && m[0] == v && s.names[m[2]] != "" { // a value of any type
			return s.names[m[2]] + m[3]
		}
		return `"` + c.text(s, v, escaped) + `"`
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// entry is one of a list or mapping, such as "model.pkl" or { "model.pkl": OPTIONS }.
type entry struct {
	name    string
	options any
	bare    bool // there is no mapping
}

func entries(v any) (list []entry) {
	switch v := v.(type) {
	case nil:
	case []any:
		for _, e := range v {
			list = append(list, entries(e)...)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			list = append(list, entry{name: k, options: v[k]})
		}
	default:
		list = []entry{{name: fmt.Sprint(v), bare: true}}
	}
	return list
}
