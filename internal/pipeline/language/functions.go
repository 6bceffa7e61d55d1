package language

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"github.com/zclconf/go-cty/cty/gocty"

	"github.com/redsi/redsi/internal/pipeline/syntax"
)

// Function documents a function that expressions can call.
type Function struct {
	Name  string `json:"name"`
	Usage string `json:"usage"` // join(separator, lists...)
	Help  string `json:"help"`
	Group string `json:"group"`
}

type entry struct {
	name, params, help string
	f                  function.Function
}

type group struct {
	title   string
	entries []entry
}

// library lists what expressions can call. Functions are pure: the same sources and variables give the same pipeline.
func library(s *Session, dir string, secret func() bool) []group {
	return []group{
		{"Pipelines", []entry{
			{"product", "axes, order...", "All combinations of several lists, for for_each: keys joined by \"/\" in the order written.", product},
			{"files", "artifact, pattern", "The files of a step's output that match a pattern, by their names without what the pattern fixes: for_each over them is one step for each.", s.filesFunction()},
			{"json", "artifact, path", "What a step has written as JSON: \"FILE:FIELD\", or of an output that is one file \"FIELD\".", s.jsonFunction()},
			{"file", "path", "The text of a file beside the pipeline, byte for byte; it becomes configuration.", fileFunc(dir, s.textBeside)},
			{"filebase64", "path", "The bytes of a file beside the pipeline in base64, for files that are not UTF-8 text.", fileFunc(dir, s.base64Beside)},
			{"fileset", "folder, pattern", "The names of the files below a folder that match a pattern, sorted and relative to it: * is any part of a name, ** any folders.", s.filesetFunction(dir)},
			{"filesha256", "path", "The SHA-256 of a file of any size, in hexadecimal.", fileFunc(dir, s.DigestBeside)},
			{"templatefile", "path, variables", "The text of a file, with ${name} for each of the variables; its lines end in LF.", s.templateFunction(dir, secret)},
		}},
		{"Collections", []entry{
			{"alltrue", "list", "Whether all conditions of a list are true; null is not.", allTrue},
			{"anytrue", "list", "Whether any condition of a list is true; null is not.", anyTrue},
			{"chunklist", "list, size", "A list cut into lists of at most size elements.", stdlib.ChunklistFunc},
			{"coalesce", "values...", "The first argument that is not null.", stdlib.CoalesceFunc},
			{"coalescelist", "lists...", "The first list that is not empty.", stdlib.CoalesceListFunc},
			{"compact", "list", "A list of strings without the empty ones.", stdlib.CompactFunc},
			{"concat", "lists...", "Lists, one after the other.", stdlib.ConcatFunc},
			{"contains", "list, value", "Whether a list or set has a value.", contains},
			{"distinct", "list", "A list with each value once.", distinct},
			{"element", "list, index", "An element by index, wrapping around at the end.", stdlib.ElementFunc},
			{"flatten", "list", "Nested lists as one list.", stdlib.FlattenFunc},
			{"index", "list, value", "Where a list has a value first, from 0.", indexOf},
			{"keys", "map", "The keys of a map, sorted.", stdlib.KeysFunc},
			{"length", "value", "The number of elements, or of a string's characters.", length},
			{"lookup", "map, key, default", "A value of a map by key, or a default.", stdlib.LookupFunc},
			{"merge", "maps...", "Maps or objects as one; later ones win.", stdlib.MergeFunc},
			{"one", "list", "The only element of a list, or null if it is empty.", only},
			{"range", "start, limit, step", "Numbers from start to limit by step, excluding the limit.", stdlib.RangeFunc},
			{"reverse", "list", "A list in reverse order.", stdlib.ReverseListFunc},
			{"setintersection", "sets...", "The elements that all sets have.", stdlib.SetIntersectionFunc},
			{"setproduct", "lists...", "All combinations of several lists, as lists.", stdlib.SetProductFunc},
			{"setsubtract", "set, without", "The elements of the first set that the second lacks.", stdlib.SetSubtractFunc},
			{"setsymmetricdifference", "sets...", "The elements that an odd number of the sets has.", stdlib.SetSymmetricDifferenceFunc},
			{"setunion", "sets...", "The elements that any set has.", stdlib.SetUnionFunc},
			{"slice", "list, start, end", "The elements of a list from start up to end, excluding end.", stdlib.SliceFunc},
			{"sort", "list", "A list of strings in order.", stdlib.SortFunc},
			{"values", "map", "The values of a map, by key.", stdlib.ValuesFunc},
			{"zipmap", "keys, values", "A map of a list of keys and a list of values.", stdlib.ZipmapFunc},
		}},
		{"Text", []entry{
			{"base64decode", "text", "The text that base64 stands for.", base64Decode},
			{"base64encode", "text", "A text in base64.", textFunc("text", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) })},
			{"basename", "path", "The last part of a path.", textFunc("path", path.Base)},
			{"chomp", "text", "A string without line ends at its end.", stdlib.ChompFunc},
			{"dirname", "path", "A path without its last part.", textFunc("path", path.Dir)},
			{"endswith", "text, suffix", "Whether a string ends with a suffix.", affix("suffix", strings.HasSuffix)},
			{"format", "pattern, args...", "A text from a pattern with verbs such as %s, %d and %05.2f.", stdlib.FormatFunc},
			{"formatlist", "pattern, lists...", "format for each element of lists.", stdlib.FormatListFunc},
			{"indent", "spaces, text", "A text with all lines but the first indented.", stdlib.IndentFunc},
			{"join", "separator, lists...", "The strings of lists with a separator between them.", stdlib.JoinFunc},
			{"lower", "text", "A string in lower case.", stdlib.LowerFunc},
			{"md5", "text", "The MD5 of a text, in hexadecimal.", textFunc("text", func(s string) string { return fmt.Sprintf("%x", md5.Sum([]byte(s))) })},
			{"regex", "pattern, text", "The first match of a regular expression.", stdlib.RegexFunc},
			{"regexall", "pattern, text", "All matches of a regular expression.", stdlib.RegexAllFunc},
			{"regexreplace", "text, pattern, by", "A string with all matches of a regular expression replaced.", stdlib.RegexReplaceFunc},
			{"replace", "text, part, by", "A string with all occurrences of a part replaced.", stdlib.ReplaceFunc},
			{"sha1", "text", "The SHA-1 of a text, in hexadecimal.", textFunc("text", func(s string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(s))) })},
			{"sha256", "text", "The SHA-256 of a text, in hexadecimal.", textFunc("text", func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) })},
			{"sha512", "text", "The SHA-512 of a text, in hexadecimal.", textFunc("text", func(s string) string { return fmt.Sprintf("%x", sha512.Sum512([]byte(s))) })},
			{"split", "separator, text", "A list of the parts of a string between separators.", stdlib.SplitFunc},
			{"startswith", "text, prefix", "Whether a string starts with a prefix.", affix("prefix", strings.HasPrefix)},
			{"strcontains", "text, part", "Whether a string has a part.", affix("part", strings.Contains)},
			{"strrev", "text", "The characters of a string in reverse order.", stdlib.ReverseFunc},
			{"substr", "text, offset, length", "A part of a string by offset and length, in characters.", stdlib.SubstrFunc},
			{"title", "text", "A string with the first letter of each word in upper case.", stdlib.TitleFunc},
			{"trim", "text, characters", "A string without the given characters at both ends.", stdlib.TrimFunc},
			{"trimprefix", "text, prefix", "A string without a prefix.", stdlib.TrimPrefixFunc},
			{"trimspace", "text", "A string without white space at both ends.", stdlib.TrimSpaceFunc},
			{"trimsuffix", "text, suffix", "A string without a suffix.", stdlib.TrimSuffixFunc},
			{"upper", "text", "A string in upper case.", stdlib.UpperFunc},
		}},
		{"Numbers", []entry{
			{"abs", "number", "A number without its sign.", stdlib.AbsoluteFunc},
			{"ceil", "number", "The next integer above.", stdlib.CeilFunc},
			{"floor", "number", "The next integer below.", stdlib.FloorFunc},
			{"log", "number, base", "A logarithm to a base.", stdlib.LogFunc},
			{"max", "numbers...", "The largest of the arguments.", stdlib.MaxFunc},
			{"min", "numbers...", "The smallest of the arguments.", stdlib.MinFunc},
			{"parseint", "text, base", "An integer written in a base.", stdlib.ParseIntFunc},
			{"pow", "number, power", "A power.", stdlib.PowFunc},
			{"signum", "number", "-1, 0 or 1 by a number's sign.", stdlib.SignumFunc},
			{"sum", "list", "The sum of a list.", sum},
		}},
		{"Conversion and failure", []entry{
			{"can", "expression", "Whether an expression can be evaluated.", s.attempt(tryfunc.CanFunc)},
			{"csvdecode", "text", "A list of objects from a CSV text with a header.", stdlib.CSVDecodeFunc},
			{"dvcdecode", "text, format", "A value from yaml, json or toml, whose numbers are written in texts as DVC writes them: 1.0, 1e-05.", dvcDecode},
			{"jsondecode", "text", "A value from JSON.", stdlib.JSONDecodeFunc},
			{"jsonencode", "value", "A value as JSON.", stdlib.JSONEncodeFunc},
			{"nonsensitive", "condition", "A yes or no about a sensitive value that is not sensitive itself.", nonsensitive},
			{"pick", "text, names", "The parameters of a YAML or JSON text that are named, such as \"train.lr\", as they are written in it: 1.0 stays 1.0.", pick},
			{"tobool", "value", "A value as a bool.", stdlib.MakeToFunc(cty.Bool)},
			{"tolist", "value", "A value as a list.", toList},
			{"tomap", "value", "A value as a map.", toMap},
			{"tomldecode", "text", "An object from TOML; dates are texts.", decoder("tomldecode", DecodeTOML)},
			{"tonumber", "value", "A value as a number.", stdlib.MakeToFunc(cty.Number)},
			{"toset", "value", "A value as a set.", toSet},
			{"tostring", "value", "A value as a string.", toString},
			{"try", "expressions...", "The first expression that can be evaluated.", s.attempt(tryfunc.TryFunc)},
			{"yamldecode", "text", "A value from YAML 1.2, in which no and on are texts; so are dates.", decoder("yamldecode", DecodeYAML)},
			{"yamlencode", "value", "A value as YAML.", yamlEncode},
		}},
	}
}

func Functions() []Function {
	var out []Function
	for _, g := range library(&Session{}, "", nil) {
		for _, e := range g.entries {
			out = append(out, Function{e.name, e.name + "(" + e.params + ")", e.help, g.title})
		}
	}
	return out
}

// Functions returns what sources in a folder can call. secret: whether templates may hold secrets; the first caller decides.
func (s *Session) Functions(dir string, secret func() bool) map[string]function.Function {
	if f, ok := s.funcs[dir]; ok {
		return f
	}
	f := map[string]function.Function{instancesFunction: instancesOf}
	for _, g := range library(s, dir, secret) {
		for _, e := range g.entries {
			f[e.name] = s.meter.bounded(e.name, e.f)
		}
	}
	s.funcs[dir] = f
	return f
}

// fileFunc is a function that gives a text of a file beside the sources in a folder.
func fileFunc(dir string, of func(dir, name string) (string, error)) function.Function {
	return valueFunc(cty.String, func(args []cty.Value) (cty.Value, error) {
		s, err := of(dir, args[0].AsString())
		return cty.StringVal(s), err
	}, textParam("path"))
}

func (s *Session) filesetFunction(dir string) function.Function {
	return valueFunc(cty.List(cty.String), func(args []cty.Value) (cty.Value, error) {
		names, err := s.listBeside(dir, args[0].AsString(), args[1].AsString())
		if err != nil {
			return cty.NilVal, err
		}
		return gocty.ToCtyValue(append([]string{}, names...), cty.List(cty.String))
	}, textParam("folder"), textParam("pattern"))
}

var nonsensitive = valueFunc(cty.Bool, func(args []cty.Value) (cty.Value, error) {
	v, _ := args[0].Unmark()
	return v, nil
}, function.Parameter{Name: "condition", Type: cty.Bool, AllowMarked: true})

// valueFunc is a function whose errors are about its first argument, if they do not say more.
func valueFunc(result cty.Type, f func(args []cty.Value) (cty.Value, error), params ...function.Parameter) function.Function {
	return function.New(&function.Spec{
		Params: params,
		Type:   function.StaticReturnType(result),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, err := f(args)
			switch err.(type) {
			case nil:
				return v, nil
			case *syntax.Limit, *told, function.ArgError:
				return cty.UnknownVal(result), err
			}
			return cty.UnknownVal(result), function.NewArgError(0, err)
		},
	})
}

func textParam(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.String}
}

func anyParam(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.DynamicPseudoType, AllowDynamicType: true}
}

func textFunc(name string, f func(string) string) function.Function {
	return valueFunc(cty.String, func(args []cty.Value) (cty.Value, error) { return cty.StringVal(f(args[0].AsString())), nil }, textParam(name))
}

func affix(name string, has func(s, affix string) bool) function.Function {
	return valueFunc(cty.Bool, func(args []cty.Value) (cty.Value, error) {
		return cty.BoolVal(has(args[0].AsString(), args[1].AsString())), nil
	}, textParam("str"), textParam(name))
}

func anything(p function.Parameter) function.Parameter {
	p.AllowNull, p.AllowUnknown, p.AllowDynamicType, p.AllowMarked = true, true, true, true
	return p
}

// toCollection is the library's conversion, faster for elements of one type: the library compares all (minutes for 50,000).
func toCollection(to cty.Type, of func(cty.Type) cty.Type, make func(cty.Value) cty.Value) function.Function {
	general := stdlib.MakeToFunc(to)
	return function.New(&function.Spec{
		Params: general.Params(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if t, ok := elementType(args[0], to.IsMapType()); ok {
				return of(t), nil
			}
			return general.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if _, ok := elementType(args[0], to.IsMapType()); ok {
				return make(args[0]), nil
			}
			return general.Call(args)
		},
	})
}

// elementType is the type of all elements of a tuple, or attributes of an object; false: there is none, or v is unknown.
func elementType(v cty.Value, attributes bool) (one cty.Type, ok bool) {
	var types []cty.Type
	switch t := v.Type(); {
	case v.IsMarked() || v.IsNull() || !v.IsKnown():
	case t.IsTupleType() && !attributes:
		types = t.TupleElementTypes()
	case t.IsObjectType() && attributes:
		types = slices.Collect(maps.Values(t.AttributeTypes()))
	}
	if len(types) == 0 || slices.ContainsFunc(types, func(t cty.Type) bool { return !t.Equals(types[0]) }) {
		return cty.NilType, false
	}
	return types[0], !types[0].HasDynamicTypes() && v.IsWhollyKnown() && !v.ContainsMarked()
}

var (
	toList = toCollection(cty.List(cty.DynamicPseudoType), cty.List, func(v cty.Value) cty.Value { return cty.ListVal(v.AsValueSlice()) })
	toSet  = toCollection(cty.Set(cty.DynamicPseudoType), cty.Set, func(v cty.Value) cty.Value { return cty.SetVal(v.AsValueSlice()) })
	toMap  = toCollection(cty.Map(cty.DynamicPseudoType), cty.Map, func(v cty.Value) cty.Value { return cty.MapVal(v.AsValueMap()) })
)

func elements(v cty.Value) ([]cty.Value, error) {
	if t := v.Type(); !t.IsListType() && !t.IsSetType() && !t.IsTupleType() {
		return nil, fmt.Errorf("want a list, got %s", t.FriendlyName())
	}
	return v.AsValueSlice(), nil
}

var only = valueFunc(cty.DynamicPseudoType, func(args []cty.Value) (cty.Value, error) {
	list, err := elements(args[0])
	if len(list) > 1 {
		err = fmt.Errorf("it has %d elements: want one or none", len(list))
	}
	return append(list, cty.NullVal(cty.DynamicPseudoType))[0], err
}, anyParam("list"))

// contains is the library's, which answers "unknown" for a null without a type.
var contains = valueFunc(cty.Bool, func(args []cty.Value) (cty.Value, error) {
	if args[1].IsNull() {
		args[1] = cty.NullVal(cty.String)
	}
	return stdlib.Contains(args[0], args[1])
}, anyParam("list"), function.Parameter{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowDynamicType: true})

var indexOf = valueFunc(cty.Number, func(args []cty.Value) (cty.Value, error) {
	list, err := elements(args[0])
	i := slices.IndexFunc(list, args[1].RawEquals)
	if err == nil && i < 0 {
		err = errors.New("it does not have that value")
	}
	return cty.NumberIntVal(int64(i)), err
}, anyParam("list"), anyParam("value"))

var (
	allTrue = quantifier(cty.True, cty.Value.And)
	anyTrue = quantifier(cty.False, cty.Value.Or)
)

// quantifier folds a list of conditions, as Terraform's functions do.
func quantifier(ofNone cty.Value, fold func(a, b cty.Value) cty.Value) function.Function {
	return valueFunc(cty.Bool, func(args []cty.Value) (cty.Value, error) {
		out := ofNone
		for _, v := range args[0].AsValueSlice() {
			if v.IsNull() {
				v = cty.False
			}
			out = fold(out, v)
		}
		return out, nil
	}, function.Parameter{Name: "list", Type: cty.List(cty.Bool)})
}

var sum = valueFunc(cty.Number, func(args []cty.Value) (cty.Value, error) {
	total := cty.Zero
	for _, v := range args[0].AsValueSlice() {
		if v.IsNull() {
			return cty.NilVal, errors.New("the list has a null")
		}
		total = total.Add(v)
	}
	return total, nil
}, function.Parameter{Name: "list", Type: cty.List(cty.Number)})

// length is the library's, and counts the characters of a string too.
var length = valueFunc(cty.Number, func(args []cty.Value) (cty.Value, error) {
	v := args[0]
	switch {
	case v.Type() == cty.String:
		return stdlib.Strlen(v)
	case v.Type().IsObjectType():
		return cty.NumberIntVal(int64(v.LengthInt())), nil
	case !v.CanIterateElements():
		return cty.NilVal, fmt.Errorf("a %s has no length", v.Type().FriendlyName())
	}
	return stdlib.Length(v)
}, anyParam("value"))

// distinct is the library's function, also fast for long lists: the library compares each element with all others.
var distinct = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "list", Type: cty.List(cty.DynamicPseudoType)}},
	Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
	Impl: func(args []cty.Value, t cty.Type) (cty.Value, error) {
		if !args[0].IsWhollyKnown() {
			return cty.UnknownVal(t), nil
		}
		seen := map[int][]cty.Value{}
		var kept []cty.Value
		for _, e := range args[0].AsValueSlice() {
			if h := e.Hash(); !slices.ContainsFunc(seen[h], e.RawEquals) {
				seen[h] = append(seen[h], e)
				kept = append(kept, e)
			}
		}
		if len(kept) == 0 {
			return cty.ListValEmpty(t.ElementType()), nil
		}
		return cty.ListVal(kept), nil
	},
})
