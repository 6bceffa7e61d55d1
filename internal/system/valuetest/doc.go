// Package valuetest judges the values that a test meets. It is only for tests.
package valuetest
