// Command referee plays the stranger who checks a paper: it publishes the results of a store,
// serves them on the loopback interface, and with an empty store, no server and no credentials
// asks for the plan, all tables and figures, and the report. It says how long each took and
// fails if a step would run. Then it spoils what is served, one thing at a time, and fails
// if that is not named or if anything of it comes to lie in the referee's folder.
//
//	go run ./tools/referee -redsi bin/redsi -tree . -store .redsi/store -- --var scale=toy
//
// The tree is cloned with git if it is a repository, else copied but for its folder .redsi.
// It must not know how redsi does what it does: it uses the command line and files of the
// published folder.
package main
