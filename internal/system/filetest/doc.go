// Package filetest writes and reads the files of tests. It is for tests alone.
package filetest
