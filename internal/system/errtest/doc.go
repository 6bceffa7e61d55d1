// Package errtest judges the errors that a test meets. It is for tests alone.
package errtest
