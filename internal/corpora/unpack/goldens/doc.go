// Package goldens reads the files of testdata that tests compare with: texts and JSON, plain or compressed. With the flag
// -update, which it gives to every test that imports it, a test writes what it made there. What cannot be read or
// written ends the test.
//
// It must not know what the files hold, and only tests may import it.
package goldens
