// Package devservertest runs a real Temporal in memory, for the tests of other packages.
package devservertest
