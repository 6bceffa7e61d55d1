// Command ports tries the ports of examples/ports beside what they were ported from, and
// prints the table of docs/comparison.md: what ran again after each change, here and by the
// original's own tool.
//
//	go run ./tools/ports -originals FOLDER [-redsi bin/redsi] [-work FOLDER] [NAME…]
//
// A port is a folder with a port.json beside its pipeline: where the original is, which of
// its files are used, what the original's results were, the changes, and how often the
// original ran. The original's files are not in this repository: FOLDER has a checkout of
// each at FOLDER/OWNER/NAME, and each file's SHA-256 is checked. A port is copied, its
// original's files are laid beside it, it is run and its results are compared; then each
// change is made alone, run, and taken back.
//
// It knows redsi by its command line only.
package main
