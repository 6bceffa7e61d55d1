// Program docs does what the documentation says: every command of README.md and docs/*.md,
// and with -long the examples of --help, in the order of reading, in one copy of the tree. It fails
// on an exit code or an output that is not the one shown.
//
// Fenced blocks of the languages sh and console are run. A line of sh is a command; \ at
// its end continues it. In console a line after "$ " is a command, and the lines up to the
// next one are what it prints, both streams together. There, "…" stands for anything: within
// a line for any text, alone for any lines. Ids of runs, durations and ports differ each
// time and are not compared.
//
// An HTML comment before a block says what is special about it, several things with ";":
//
//	<!-- docs: not run: needs a cluster -->     why it cannot be run here
//	<!-- docs: long -->                         run only by -long
//	<!-- docs: in examples/kmeans-study -->     in this folder of the copy, and back
//	<!-- docs: exit 2 -->                       each of its commands ends so
//	<!-- docs: varies \d+\.\d -->               what matches is not compared
//	<!-- docs: until http:// -->                each is interrupted once it printed this
//
// It must not know what redsi is for: it reads Markdown and runs programs.
package main
