package dvc

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline"
)

// value evaluates an expression of the new pipeline, for one instance of a stage.
func (c *conversion) value(expr string, each cty.Value) (cty.Value, error) {
	x := pipeline.WholeExpression("dvc.yaml", []byte(expr))
	x.With = map[string]cty.Value{"local": cty.ObjectVal(c.local)}
	if each != cty.NilVal {
		x.With["each"] = each
	}
	v, ds := c.scope.Value(x)
	if ds.HasErrors() {
		return v, errors.New(ds.List[0].Detail)
	}
	return v, nil
}

// plain is the value of an expression as JSON has it.
func (c *conversion) plain(expr string) (out any, err error) {
	v, err := c.value("jsonencode("+expr+")", cty.NilVal)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(v.AsString()))
	d.UseNumber()
	return out, d.Decode(&out)
}

var (
	template = regexp.MustCompile(`\\?\$\{\s*([\w-]+)([^{}]*?)\s*\}`)
	word     = regexp.MustCompile(`^[A-Za-z_][\w-]*$`)
	escapes  = strings.NewReplacer("${", "$${", "%{", "%%{")
)

// reference is the expression for a name in a template: train.lr, item, item.sizes[0]. One
// without a value ends the conversion, as DVC refuses it.
func (c *conversion) reference(s *stage, root, rest string) string {
	each := cty.NilVal
	if s != nil {
		each = s.list[0].each
	}
	expr := c.names[root] + rest
	v, err := c.value(expr, each)
	switch t := v.Type(); {
	case err != nil:
	case t.IsObjectType(): // an option for each entry, as DVC writes them
		expr = fmt.Sprintf(`join(" ", [for k, v in %s : v == true ? "--${k}" : "--${k} ${v}" if v != false])`, expr)
		_, err = c.value(expr, each)
	case t.IsTupleType():
		expr = `join(" ", ` + expr + ")"
	}
	if err != nil && c.failed == nil {
		c.failed = fmt.Errorf("${%s%s} has no value, or none that can stand in a text", root, rest)
	}
	return expr
}

// text writes a text in which templates are references; escape is for what is around them.
func (c *conversion) text(s *stage, text string, escape func(string) string) string {
	var b strings.Builder
	at := 0
	for _, m := range template.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(escape(text[at:m[0]]))
		whole := text[m[0]:m[1]]
		at = m[1]
		if shell, ok := strings.CutPrefix(whole, `\`); ok {
			b.WriteString(escape(shell))
		} else {
			b.WriteString("${" + c.reference(s, text[m[2]:m[3]], text[m[4]:m[5]]) + "}")
		}
	}
	return b.String() + escape(text[at:])
}

// quoted is a text in quotes.
func (c *conversion) quoted(s *stage, text string) string {
	return `"` + c.text(s, text, func(t string) string { q := quote(t); return q[1 : len(q)-1] }) + `"`
}

func quote(s string) string { return escapes.Replace(fmt.Sprintf("%q", s)) }

// raw is an expression among values of dvc.yaml.
type raw string

// literal writes a value of dvc.yaml.
func (c *conversion) literal(s *stage, v any) string {
	var parts []string
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			name := k
			if !word.MatchString(k) {
				name = c.quoted(s, k)
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
		if m := template.FindStringSubmatch(v); m != nil && m[0] == v && c.names[m[1]] != "" { // a value of any type
			return c.names[m[1]] + m[2]
		}
		return c.quoted(s, v)
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// entries are the elements of a list, or a single value as one; the entries of a mapping as
// mappings of one.
func entries(v any) (list []any) {
	switch v := v.(type) {
	case nil:
	case []any:
		return v
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			list = append(list, map[string]any{k: v[k]})
		}
	default:
		list = []any{v}
	}
	return list
}

// named is an entry such as "model.pkl" or { "model.pkl": OPTIONS }.
func named(v any) (string, any) {
	if o, ok := v.(map[string]any); ok {
		for name, options := range o {
			return name, options
		}
	}
	return fmt.Sprint(v), nil
}
