// Package mem is an artifact store in memory: for tests, for runs whose results nobody keeps, and as the reference
// for the other stores.
package mem
