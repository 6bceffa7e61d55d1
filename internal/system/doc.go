// Package system asks of the operating system what Go's library has no one word
// for. The packages in its folder are what all of redsi stands on and what knows
// nothing of redsi: files that are whole or not there (atomicfile), what is at a
// path (filetype), what is put around a reader (readers), processes told apart
// (process), servers of this machine alone (loopback), text that is safe to show
// (escape), words for counts and sizes (words), a shell's words (shellwords), numbers
// and YAML as data has them (values), whose an error is (fault), keys and signed
// documents (signature); errtest, valuetest and filetest are for tests.
//
// They import libraries, and nothing of this module outside of the folder. Begin
// with readers and atomicfile, which most others meet.
//
// Windows is compiled for and not run: what is missing there says so.
package system
