// Package cores divides the cores of a process among the running steps in it. A step
// that computes gets those that no other step uses, and never less than half of all, which
// several share; the operating system gives the others what they need. It knows steps by number
// only, and sets what computes by a function.
package cores
