// Package filetest writes the files that a test begins with. It is for tests alone.
package filetest
