// Package filetest writes and reads the files of tests. It is only for tests.
package filetest
