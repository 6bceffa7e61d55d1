// Package errtest judges the errors and the values that a test meets. It is for tests alone.
package errtest
