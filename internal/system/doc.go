// Package system asks the operating system for what Go's library has no single call. All of redsi stands on the packages
// in its folder, which know nothing of redsi: files written completely or not at all (atomicfile), what is at a path
// (filetype), wrappers of readers (readers), processes told apart (process), servers only for this machine (loopback),
// text that is safe to show (escape), words for counts and sizes (words), a shell's words (shellwords), numbers and YAML
// in data (values), whose fault an error is (fault), keys and signed documents (signature); testkit is
// for tests.
//
// They import libraries, and nothing of this module outside. Begin with readers and atomicfile, which most others use.
//
// Windows is compiled for and not run: what is missing there says so.
package system
