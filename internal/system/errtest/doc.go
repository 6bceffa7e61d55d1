// Package errtest judges the errors that a test meets. It is only for tests.
package errtest
