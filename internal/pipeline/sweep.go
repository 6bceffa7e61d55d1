package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/system/words"
	"github.com/redsi/redsi/step"
)

// sweep warns of instances of a block that are one step several times: of each.value, the block
// uses nothing in which they differ. Every load says so, not lint alone: a mean over such results
// has a deviation of 0 and is of one result.
func (l *loader) sweep(name string, forEach hclsyntax.Expression, body *hclsyntax.Body, instances []instance) {
	used := map[string]bool{}
	if len(instances) < 2 || usesEach(body, forEach, used) {
		return
	}
	if len(used) == 0 {
		l.diags.warn(forEach.Range(), "Instances without a difference", fmt.Sprintf("Nothing in %s refers to each.key or each.value, so its %d instances are the same step.", name, len(instances)))
		return
	}
	groups, unused := map[string][]map[string]cty.Value{}, map[string]bool{}
	for _, inst := range instances {
		if t := inst.value.Type(); !t.IsObjectType() && !t.IsMapType() || !inst.value.IsWhollyKnown() || inst.value.IsNull() || sensitiveIn(inst.value) != "" {
			return
		}
		m, of := inst.value.AsValueMap(), map[string]any{}
		for attr := range used {
			if v, ok := m[attr]; ok {
				of[attr] = JSON(v, func(r step.Ref) any { return []string{r.String()} })
			}
		}
		id, err := json.Marshal(of)
		if err != nil {
			return
		}
		group := append(groups[string(id)], m)
		groups[string(id)] = group
		for attr, v := range m {
			if was, ok := group[0][attr]; !used[attr] && !(ok && v.RawEquals(was)) {
				unused["each.value."+attr] = true
			}
		}
	}
	for _, g := range groups { // in a sweep all are as large; where two systems share an index, the others are alone
		if len(unused) == 0 || len(g)*len(groups) != len(instances) {
			return
		}
	}
	l.diags.warn(forEach.Range(), "Unused axis", fmt.Sprintf("Nothing in %s refers to %s, so its %d instances are %s, and a mean over them is of one result several times. Use it in the block, such as in its arguments, or leave it out of the for_each.",
		name, strings.Join(sortedKeys(unused), " or "), len(instances), words.Count(len(groups), "step")))
}

// usesEach notes the attributes of each.value that a body refers to; it is true if the body uses
// all of each, or what cannot be told.
func usesEach(b *hclsyntax.Body, forEach hclsyntax.Expression, used map[string]bool) bool {
	for _, a := range b.Attributes {
		if a.Expr == forEach {
			continue
		}
		for _, tr := range a.Expr.Variables() {
			if tr.RootName() != "each" {
				continue
			}
			attr := ""
			if path := names(tr); len(path) > 2 && path[1] == "value" {
				attr = path[2]
			}
			if attr == "" {
				return true
			}
			used[attr] = true
		}
	}
	return slices.ContainsFunc(b.Blocks, func(inner *hclsyntax.Block) bool { return usesEach(inner.Body, forEach, used) })
}
