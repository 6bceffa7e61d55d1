// Package valuetest judges the values that a test meets. It is for tests alone.
package valuetest
