// Package results has the kinds that turn reports into tables, figures and effects. It
// reads any JSON and must not know which kinds wrote it.
package results
