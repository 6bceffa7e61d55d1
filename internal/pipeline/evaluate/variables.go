package evaluate

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// set gives the variables of the pipeline their values.
func (vs *variables) set(from *givens) {
	f, given := vs.f, from.values()
	for name, v := range vs.of {
		g, ok := given[name]
		switch {
		case ok:
			v.value, v.local, v.given = g.value(from, v.Variable), g.local, true
		case v.Optional:
			v.value = v.Fallback
		case v.Sensitive:
			f.Lacks.Secrets = true
			f.Diags.Error(v.Range, "Variable without a value",
				fmt.Sprintf("var.%s is sensitive, so neither the pipeline nor a saved plan has its value. Set %s%s in the environment, or give it with --var-file or --var.", name, EnvPrefix, name))
		default:
			f.Diags.Error(v.Range, "Variable without a value",
				fmt.Sprintf("var.%s has no default. Give it a value with --var %s=…, in a --var-file, or in the environment as %s%s.", name, name, EnvPrefix, name))
		}
	}
	whole := map[string]cty.Value{}
	for name, v := range vs.of {
		if v.Sensitive {
			whole[name] = v.value
			v.value = v.value.Mark(language.Sensitive(name))
		}
	}
	f.SetSecrets(whole)
	vs.validateAll()
	for name := range whole { // those that are refused are unknown now
		whole[name], _ = vs.of[name].value.Unmark()
	}
}

func (vs *variables) validateAll() {
	var refused []*setting
	for _, v := range vs.of {
		if !vs.validate(v) {
			refused = append(refused, v)
		}
	}
	// What follows from a refused value is not news.
	for _, v := range refused {
		v.value = cty.DynamicVal
	}
}

// validate runs a variable's validation blocks, which may refer to variables; false: a block refuses the value.
func (vs *variables) validate(v *setting) bool {
	f := vs.f
	allowed := true
	for _, c := range v.Checks {
		if f.links.Bad[c.Condition] || !v.value.IsWhollyKnown() {
			continue
		}
		sc := f.sees(f.context(syntax.Dir(v.Range.Filename)), nil)
		ok, _ := sc.Value(c.Condition).Unmark()
		if !ok.IsKnown() {
			continue
		}
		ok, err := convert.Convert(ok, cty.Bool)
		if err != nil || ok.IsNull() {
			f.Diags.Error(c.Condition.Range(), "Wrong type", "A condition is true or false.")
			continue
		}
		if ok.True() {
			continue
		}
		detail := fmt.Sprintf("The value of var.%s is not shown, as it is sensitive.", v.Name)
		switch {
		case v.Sensitive || language.SensitiveIn(v.value) != "":
		case language.HoldsArtifact(v.value.Type()):
			detail = fmt.Sprintf("The value of var.%s contains an artifact.", v.Name)
		default:
			value := v.argument()
			if n := len(value); n > syntax.Long {
				value = fmt.Sprintf("%s… (%d bytes)", value[:syntax.Runes(value, syntax.Shown)], n)
			}
			detail = fmt.Sprintf("The value of var.%s is %s.", v.Name, value)
		}
		if m := sc.Open(sc.Value(c.Message), c.Message.Range()); m.IsKnown() && !m.IsNull() && m.Type() == cty.String {
			detail = m.AsString() + "\n" + detail
		}
		f.Diags.Error(v.Range, "Value not allowed", detail, syntax.Place{Range: c.Condition.Range(), Text: "this condition is false"})
		allowed = false
	}
	return allowed
}

// argument writes the value as --var takes it.
func (v *setting) argument() string {
	if v.Type == cty.String && v.value.Type() == cty.String {
		return v.value.AsString()
	}
	return strings.TrimSpace(string(hclwrite.TokensForValue(v.value).Bytes()))
}

// all is what a pipeline says of its variables, and their values as --var takes them.
func (vs *variables) all() (of Values, vars map[string]string) {
	of, vars = Values{Vars: map[string]json.RawMessage{}, Secrets: map[string]string{}}, map[string]string{}
	for _, name := range syntax.Keys(vs.of) {
		v := vs.of[name]
		if v.local {
			of.Local = append(of.Local, name)
		}
		if v.Sensitive {
			open := *v
			if open.value, _ = v.value.Unmark(); !open.value.IsNull() {
				of.Secrets[name] = open.argument()
			}
			continue
		}
		b, err := ctyjson.Marshal(v.value, v.value.Type())
		if err != nil {
			panic(fmt.Sprintf("var.%s: %v", name, err)) // values of variables are constants
		}
		of.Vars[name] = b
		if !v.value.IsNull() {
			vars[name] = v.argument()
		}
		if !v.Optional || !v.value.RawEquals(v.Fallback) {
			of.Given = append(of.Given, name)
		}
	}
	return of, vars
}

// argument is the value that a module's variable is given.
type argument struct {
	value     cty.Value
	rng, name hcl.Range
}

// setArguments gives the variables of a module their values.
func (vs *variables) setArguments(m *declare.Call, arguments map[string]argument) {
	f := vs.f
	for _, name := range syntax.Keys(arguments) {
		if vs.of[name] == nil {
			f.Diags.Error(arguments[name].name, "Undeclared variable",
				fmt.Sprintf("The module has no variable %q. %s", name, syntax.Suggest(name, syntax.Keys(vs.of), "variable")))
		}
	}
	for _, name := range syntax.Keys(vs.of) {
		v := vs.of[name]
		a, given := arguments[name]
		switch {
		case given && !(a.value.IsKnown() && a.value.IsNull() && v.Optional):
			v.value = vs.argumentOf(v, a)
		case v.Optional:
			v.value = v.Fallback
		default:
			f.Diags.Error(syntax.Header(m.Block), "Variable without a value",
				fmt.Sprintf("The module's var.%s has no default. Give it a value: %s = ….", name, name), syntax.Place{Range: v.Range, Text: "declared here"})
		}
	}
	vs.validateAll()
}

// argumentOf converts an argument to the variable's type. A sensitive variable takes a sensitive one, and has its name.
func (vs *variables) argumentOf(v *setting, a argument) cty.Value {
	f := vs.f
	if _, whole := f.WholeVariable(a.value); v.Sensitive && a.value.IsKnown() && !whole {
		f.Diags.Error(a.rng, "Not a sensitive variable",
			fmt.Sprintf("The module's var.%s is sensitive, so it takes only a whole sensitive variable of the pipeline; its value must not be in a file.", v.Name), syntax.Place{Range: v.Range, Text: "declared here"})
		return cty.DynamicVal
	}
	if a.value.Type() == cty.DynamicPseudoType && !a.value.IsKnown() {
		return a.value // reported
	}
	out, err := convert.Convert(a.value, v.Type)
	if err != nil {
		hint := ""
		if language.HoldsArtifact(a.value.Type()) {
			hint = " A variable that takes artifacts has type = any."
		}
		f.Diags.Error(a.rng, "Wrong type",
			fmt.Sprintf("The value does not fit the type of the module's var.%s, %s: %s.%s", v.Name, typeexpr.TypeString(v.Type), err, hint), syntax.Place{Range: v.Range, Text: "declared here"})
		return cty.DynamicVal
	}
	return out
}
