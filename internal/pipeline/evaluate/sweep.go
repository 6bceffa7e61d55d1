package evaluate

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// sweep warns of instances of a block that are the same step: no configuration differs by an axis of each.value, so a mean
// over their results is of one result. configs are the steps' configurations by key; nil: the block's references decide. Every load
// says so, not only lint.
func sweep(d *syntax.Collector, name string, forEach hclsyntax.Expression, body *hclsyntax.Body, instances []instance, configs map[string]artifacts.Digest) {
	used := map[string]bool{}
	all := usesEach(body, forEach, used)
	if len(instances) < 2 || all && configs == nil {
		return
	}
	if len(used) == 0 && !all {
		d.Warn(forEach.Range(), "Instances without a difference", fmt.Sprintf("Nothing in %s refers to each.key or each.value, so its %d instances are the same step.", name, len(instances)))
		return
	}
	groups, unused, n := map[string][]map[string]cty.Value{}, map[string]bool{}, 0
	for _, inst := range instances {
		config, ok := configs[inst.Key]
		if configs != nil && !ok {
			continue // its when is false
		}
		m := axes(inst.value)
		if m == nil {
			return
		}
		of := map[string]any{"": config.String()}
		for attr := range used {
			if v, ok := m["."+attr]; ok && configs == nil {
				of[attr] = language.JSON(v, func(r step.Ref) any { return []string{r.String()} })
			}
		}
		id, err := json.Marshal(of)
		if err != nil {
			return
		}
		group := append(groups[string(id)], m)
		groups[string(id)] = group
		n++
		for attr, v := range m {
			if was, ok := group[0][attr]; !(configs == nil && used[attr[1:]]) && !(ok && v.RawEquals(was)) {
				unused["each.value"+attr] = true
			}
		}
	}
	for _, g := range groups { // in a sweep all are as large; where only two systems share an index, they are not
		if len(unused) == 0 || len(g)*len(groups) != n {
			return
		}
	}
	if len(unused) > 0 {
		d.Warn(forEach.Range(), "Unused axis", fmt.Sprintf("What %s computes does not depend on %s, so its %d instances are %s, and a mean over them is of one result several times. Use it in the block, such as in its arguments, or leave it out of the for_each.",
			name, strings.Join(syntax.Keys(unused), " or "), n, words.Count(len(groups), "step")))
	}
}

// axes are the parts of an element of for_each, by what follows each.value: .seed, or [1]; nil: none can be compared.
func axes(v cty.Value) map[string]cty.Value {
	if !v.IsWhollyKnown() || v.IsNull() || language.SensitiveIn(v) != "" {
		return nil
	}
	parts := map[string]cty.Value{}
	switch t := v.Type(); {
	case t.IsObjectType() || t.IsMapType():
		for name, part := range v.AsValueMap() {
			parts["."+name] = part
		}
	case t.IsTupleType() || t.IsListType():
		for i, part := range v.AsValueSlice() {
			parts[fmt.Sprintf("[%d]", i)] = part
		}
	default:
		return nil
	}
	return parts
}

// usesEach notes the attributes of each.value that a body refers to; true: the body uses all of each, or may.
func usesEach(b *hclsyntax.Body, forEach hclsyntax.Expression, used map[string]bool) bool {
	for _, a := range syntax.Within(b) {
		if a.Expr == forEach {
			continue
		}
		for _, tr := range a.Expr.Variables() {
			if tr.RootName() != "each" {
				continue
			}
			path := language.Names(tr)
			if len(path) < 3 || path[1] != "value" || path[2] == "" {
				return true
			}
			used[path[2]] = true
		}
	}
	return false
}
