// Package declare says what blocks there are (Types, one table) and makes typed declarations of bodies:
// nodes with names, variables, calls of modules, which are trees of declarations. It evaluates constants
// only. It imports syntax, language, schema. To add a type of block, begin at types.go.
package declare
