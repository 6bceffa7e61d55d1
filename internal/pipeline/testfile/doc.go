// Package testfile reads files of tests, *.test.hcl, and says which of their assertions
// hold. The names are those of Terraform's tests: a file has run blocks, each with a
// command, plan or apply, variables and assert blocks.
//
// It owns the form of these files and what an assertion can refer to. It must not know how
// a pipeline is planned or run: its caller does that and gives a World of what came of it.
package testfile
