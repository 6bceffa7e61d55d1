// Command dist makes the archive of a release: redsi, the libraries and the server program
// that it runs with, the paper's pipeline, the licences of all of it, and a bill of materials.
// It unpacks and runs anywhere on a machine without compilers whose C library is not older
// than that of the machine that built it.
//
// It must not build anything: the Makefile does.
package main
