// Command dist packs a release: the archive, from which the Docker image is made, the wheel
// redsi and the wheel redsi-models. parts.go says what each is made of. All hold the licences
// of what is inside and a bill of materials, and one commit makes the same bytes again.
//
// It must not build anything: the Makefile does.
package main
