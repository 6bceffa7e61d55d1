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
	"github.com/redsi/redsi/internal/system/lists"
)

// value evaluates an expression of the new pipeline, for the first instance of a stage; all is the list of all.
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
	err = d.Decode(&out)
	return out, err
}

var (
	template = regexp.MustCompile(`(\\*)\$+\{\s*([\w-]+)([^{}]*?)\s*\}`) // escaped, or as it is
	escapes  = strings.NewReplacer("${", "$${", "%{", "%%{")
)

// reference is the expression for a name in a template: train.lr, item, item.sizes[0]. DVC refuses a name without a value.
func (c *conversion) reference(s *stage, root, rest string) string {
	expr := s.names[root] + rest
	v, err := c.value(expr, s)
	switch {
	case err == nil && v.IsNull():
		expr = none(expr)
	case err == nil && v.Type().IsObjectType(): // an option for each entry, as DVC writes them
		expr = fmt.Sprintf(`join(" ", [for k, v in %s : v == true ? "--${k}" : "--${k} '${replace(v, "'", "'\\''")}'" if v != false])`, expr)
		if _, err = c.value(expr, s); err != nil {
			expr = `join(" ", compact([` + strings.Join(options(s.names[root]+rest, "", v), ", ") + "]))"
			_, err = c.value(expr, s)
		}
	}
	if err != nil {
		c.failed = cmp.Or(c.failed, fmt.Errorf("${%s%s} has no value, or none that can stand in a text", root, rest))
	}
	return expr
}

// none is the expression for a value as it stands in a text: of null it is None.
func none(expr string) string { return fmt.Sprintf(`(%s == null ? "None" : %[1]s)`, expr) }

// options are the expressions for an object's options where it has lists, nulls, or objects, whose names are joined by dots.
func options(expr, name string, v cty.Value) (list []string) {
	quoted := `'${replace(%s, "'", "'\\''")}'`
	option := fmt.Sprintf(`"--%s `+quoted+`"`, name, expr)
	switch t := v.Type(); {
	case t.IsObjectType():
		for _, k := range slices.Sorted(maps.Keys(t.AttributeTypes())) {
			at := "." + k
			if !hclsyntax.ValidIdentifier(k) {
				at = "[" + quote(k) + "]"
			}
			list = append(list, options(expr+at, strings.TrimPrefix(name+"."+k, "."), v.GetAttr(k))...)
		}
		return list
	case t.IsTupleType() && v.LengthInt() == 0:
		return nil
	case t.IsTupleType():
		one := `v == true ? "True" : v == false ? "False" : ` + none("v")
		option = fmt.Sprintf(`"--%s ${join(" ", [for v in %s : "`+quoted+`"])}"`, name, expr, one)
	case t == cty.Bool:
		option = fmt.Sprintf(`%s ? "--%s" : ""`, expr, name)
	case v.IsNull():
		option = fmt.Sprintf(`"--%s ${%s}"`, name, none(expr))
	}
	return []string{option}
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

func escaped(s string) string {
	q := quote(s)
	return q[1 : len(q)-1]
}

// raw is an expression among values of dvc.yaml.
type raw string

func (c *conversion) literal(s *stage, v any) string {
	switch v := v.(type) {
	case map[string]any:
		parts := lists.Map(slices.Sorted(maps.Keys(v)), func(k string) string {
			name := k
			if !hclsyntax.ValidIdentifier(k) {
				name = `"` + c.text(s, k, escaped) + `"`
			}
			return name + " = " + c.literal(s, v[k])
		})
		return "{ " + strings.Join(parts, ", ") + " }"
	case []any:
		return "[" + strings.Join(lists.Map(v, func(e any) string { return c.literal(s, e) }), ", ") + "]"
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
		list = lists.Map(slices.Sorted(maps.Keys(v)), func(k string) entry { return entry{name: k, options: v[k]} })
	default:
		list = []entry{{name: fmt.Sprint(v), bare: true}}
	}
	return list
}
