// Package mem is an artifact store in memory: for tests, and for runs whose
// results nobody keeps. It is the reference for what the other stores do.
package mem
