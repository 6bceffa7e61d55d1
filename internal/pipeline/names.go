package pipeline

import (
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/evaluate"
	"github.com/redsi/redsi/internal/pipeline/language"
	"github.com/redsi/redsi/internal/pipeline/syntax"
	"github.com/redsi/redsi/step"
)

// What is wrong with a pipeline, and where.
type (
	Pos         = syntax.Pos
	File        = syntax.File
	Diagnostics = syntax.Diagnostics
	Invalid     = syntax.Invalid
	Style       = syntax.Style
)

// What a load asks of the outside, and what it was told.
type (
	World = language.World
	Found = language.Found
	Made  = language.Made
)

// What a pipeline consists of, as its blocks say it and as the last pass makes it.
type (
	Paper     = declare.Paper
	Asset     = declare.Asset
	Step      = evaluate.Step
	Skipped   = evaluate.Skipped
	Claim     = evaluate.Claim
	Checklist = evaluate.Checklist
	Said      = evaluate.Said
	Bound     = evaluate.Bound
	Results   = evaluate.Results
	Publish   = evaluate.Publish
)

// Scope is what the expressions of a loaded pipeline see, and Expression one that comes later.
type (
	Scope      = evaluate.Opened
	Expression = evaluate.Expression
)

// EnvPrefix is evaluate.EnvPrefix.
const EnvPrefix = evaluate.EnvPrefix

// SourceOf is evaluate.SourceOf.
func SourceOf(t step.Task, pos Pos) (path string, ignore, ok bool) { return evaluate.SourceOf(t, pos) }

// WholeExpression is evaluate.WholeExpression.
func WholeExpression(file string, source []byte) Expression {
	return evaluate.WholeExpression(file, source)
}
