// Package goldens reads the files of testdata that tests compare with: texts and JSON, plain or compressed. With the flag
// -update, which every importing test has, a test writes its results there. Errors of reading and writing end the test.
//
// It must not know what the files hold, and only tests may import it.
package goldens
