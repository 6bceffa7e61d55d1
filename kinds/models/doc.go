// Package models is the second program, for other modules to build: redsi has it compute what needs libtorch.
//
//	func main() { models.Main(append(models.Kinds(), mine.Kind)...) }
//
// A kind of another module is in both programs: declared in redsi's with step.Kind's Needs,
// and here with its half, by step.WithHalves. examples/own-kind is such a module.
package models
