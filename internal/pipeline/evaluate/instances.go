package evaluate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/lists"
)

const maxInstances = 100_000 // of one for_each

type instance struct {
	syntax.Instance
	value   cty.Value
	address string
	ctx     *hcl.EvalContext

	undecided bool // a step that has not run decides whether it is skipped
	leftOut   bool // of a claim: what it is about is left out
}

// instances evaluates for_each. Without it there is one instance.
func instances(sc language.Scope, forEach hclsyntax.Expression) ([]instance, bool) {
	if forEach == nil {
		return []instance{{}}, true
	}
	v := sc.Open(keys(sc, forEach), forEach.Range())
	fail := func(format string, args ...any) ([]instance, bool) {
		sc.Diags.Error(forEach.Range(), "Wrong for_each", fmt.Sprintf(format, args...))
		return nil, false
	}
	const forms = "for_each takes a map, an object, or a list or set of strings; product({ … }) makes all combinations of several lists."
	if address, ok := language.StepOf(v); ok {
		return fail("%s is one step, not several: it has no for_each. %s", address, forms)
	}
	t := v.Type()
	var list []instance
	switch {
	case t == language.ArtifactType:
		return fail("It is %s. %s %s", language.ArtifactIn(v), language.ArtifactIs, forms)
	case !v.IsKnown() || t == cty.DynamicPseudoType && !v.IsNull():
		return nil, false // the reason is reported
	case v.IsNull():
		return fail("It is null. %s", forms)
	case t.IsMapType() || t.IsObjectType():
		m := v.AsValueMap()
		list = lists.Map(syntax.Keys(m), func(k string) instance {
			return instance{Instance: syntax.Instance{Key: k, Keyed: true}, value: m[k]}
		})
	case t.IsSetType() || t.IsListType() || t.IsTupleType():
		for _, e := range v.Elements() {
			switch {
			case e.Type() == language.ArtifactType:
				return fail("An artifact has no name that could be a key. Give each a name: { NAME = step.KIND.NAME.OUTPUT, … }.")
			case !e.IsKnown():
				return nil, false
			case e.IsNull():
				return fail("It has an element that is null. %s", forms)
			case e.Type() != cty.String:
				return fail("It has an element that is a %s. %s", e.Type().FriendlyName(), forms)
			}
			list = append(list, instance{Instance: syntax.Instance{Key: e.AsString(), Keyed: true}, value: e})
		}
		slices.SortStableFunc(list, func(a, b instance) int { return strings.Compare(a.Key, b.Key) })
	default:
		return fail("It is a %s. %s", t.FriendlyName(), forms)
	}
	for i, inst := range list {
		switch {
		case inst.Key == "":
			return fail("It has an empty key.")
		case len(inst.Key) > declare.MaxName:
			return fail("Its key %.40q… has %d bytes; at most %d are allowed. Use a map with a short name as key and the text as value.", inst.Key, len(inst.Key), declare.MaxName)
		case strings.ContainsFunc(inst.Key, unicode.IsControl):
			return fail("Its key %q has a control character.", inst.Key)
		case i > 0 && list[i-1].Key == inst.Key:
			return fail("It has the key %q twice; distinct() leaves one of each.", inst.Key)
		}
	}
	return list, true
}

// keys is the value of a for_each; toset(LIST) gives the list without repetitions, since each pass would sort a set.
func keys(sc language.Scope, forEach hclsyntax.Expression) cty.Value {
	call, ok := forEach.(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "toset" || len(call.Args) != 1 || call.ExpandFinal || sc.Bad[forEach] {
		return sc.Value(forEach)
	}
	list := sc.Value(call.Args[0])
	if !list.IsKnown() {
		return list // the reason is reported
	}
	if t := list.Type(); list.IsMarked() || list.IsNull() || !t.IsListType() && !t.IsTupleType() || list.LengthInt() == 0 {
		return sc.Value(forEach)
	}
	seen, once := make(map[string]bool, list.LengthInt()), make([]cty.Value, 0, list.LengthInt())
	for _, e := range list.Elements() {
		if e.Type() != cty.String || e.IsMarked() || !e.IsKnown() || e.IsNull() {
			return sc.Value(forEach)
		}
		if key := e.AsString(); !seen[key] {
			seen[key], once = true, append(once, e)
		}
	}
	return cty.ListVal(once)
}
