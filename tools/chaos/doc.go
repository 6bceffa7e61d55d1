// Command chaos hurts running redsi processes and looks at what is left.
//
// A round runs a small pipeline by the real program and, at a moment that its
// seed chooses, kills, stops or starves a process, a server, a disk or the way
// to the store. Afterwards every output must have the bytes of an undisturbed
// run, the store must be intact, no step that had a result may have run once more, no
// process, folder or lock may be left, and the run must have ended in time and
// never been silent for long. docs/reliability.md has the promises and figures.
//
//	make chaos SEED=1 ROUNDS=200 OUT=chaos.jsonl
//
// It signals only processes of its own rounds, which it knows by the round's
// folder in their environment, and talks to the loopback interface only. It must
// not know how redsi does what it does: it uses the command line and the store.
// It needs Linux; faults of disks need a mount namespace, which `make chaos` creates by unshare where it can, and are
// left out without it.
package main
