package pipeline

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/evaluate"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// What others call by the pipeline's name.
const (
	DefaultFile = syntax.DefaultFile
	TestSuffix  = syntax.TestSuffix
	LocalFile   = syntax.LocalFile
	MaxFile     = syntax.MaxFile

	SourceKind = declare.SourceKind
	TableKind  = declare.TableKind
	FigureKind = declare.FigureKind
	ClaimKind  = declare.ClaimKind
)

type (
	Pos         = syntax.Pos
	File        = syntax.File
	Diagnostics = syntax.Diagnostics
	Invalid     = syntax.Invalid
	Style       = syntax.Style
	Lacks       = syntax.Lacks
	Question    = syntax.Question
	BlockReader = syntax.BlockReader

	World    = language.World
	Found    = language.Found
	Made     = language.Made
	Function = language.Function

	Paper = declare.Paper
	Asset = declare.Asset
)

// Folder is syntax.Folder.
func Folder(name string) (folder string, ok bool) { return syntax.Folder(name) }

// IsPart is syntax.IsPart.
func IsPart(name string) bool { return syntax.IsPart(name) }

// IsBeside is syntax.IsBeside.
func IsBeside(name string) bool { return syntax.IsBeside(name) }

// Around is syntax.Around.
func Around(name string) string { return syntax.Around(name) }

// Read is syntax.Read.
func Read(name string) (map[string][]byte, error) { return syntax.Read(name) }

// ReadAll is syntax.ReadAll.
func ReadAll(name string) (map[string][]byte, error) { return syntax.ReadAll(name) }

// ReadFile is syntax.ReadFile.
func ReadFile(name string) ([]byte, error) { return syntax.ReadFile(name) }

// CheckSyntax is syntax.Check.
func CheckSyntax(sources map[string][]byte) Diagnostics { return syntax.Check(sources) }

// Related is syntax.Related.
func Related(d *hcl.Diagnostic) []syntax.Place { return syntax.Related(d) }

// Nearest is syntax.Nearest.
func Nearest(name string, candidates []string) string { return syntax.Nearest(name, candidates) }

// NewDiagnostics is syntax.NewDiagnostics.
func NewDiagnostics(list hcl.Diagnostics, sources map[string][]byte) Diagnostics {
	return syntax.NewDiagnostics(list, sources)
}

// Functions is language.Functions.
func Functions() []Function { return language.Functions() }

// Text is language.Text.
func Text(v cty.Value, note func(step.Ref) string) string { return language.Text(v, note) }

// JSON is language.JSON.
func JSON(v cty.Value, ref func(step.Ref) any) any { return language.JSON(v, ref) }

// FromTree is language.FromTree.
func FromTree(tree any) cty.Value { return language.FromTree(tree) }

// List is language.List.
func List(folder, pattern string) ([]string, error) { return language.List(folder, pattern) }

// Matches is language.Matches.
func Matches(pattern, name string) bool { return language.Matches(pattern, name) }

// Beliefs is declare.Beliefs.
var Beliefs = declare.Beliefs

// LocalModule is declare.LocalModule.
func LocalModule(folder, source string) (map[string][]byte, error) {
	return declare.LocalModule(folder, source)
}

// IsLocalModule is declare.IsLocalModule.
func IsLocalModule(source string) bool { return declare.IsLocalModule(source) }

// IsDOI is declare.IsDOI.
func IsDOI(text string) bool { return declare.IsDOI(text) }

// EnvPrefix is evaluate.EnvPrefix.
const EnvPrefix = evaluate.EnvPrefix

// SourceOf is evaluate.SourceOf.
func SourceOf(t step.Task, pos Pos) (path string, ignore, ok bool) { return evaluate.SourceOf(t, pos) }

// WholeExpression is evaluate.WholeExpression.
func WholeExpression(file string, source []byte) Expression {
	return evaluate.WholeExpression(file, source)
}
