// Command dist packs a release: the archive, from which the Docker image is built, the wheel
// redsi and the wheel redsi-models. parts.go says what goes into each. All hold the licences
// of their parts and a bill of materials; their bytes depend on the commit only.
//
// It must not build anything: the Makefile does.
package main
