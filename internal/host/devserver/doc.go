// Package devserver runs the embedded Temporal server of a state folder: the program tools/temporal-server, which is not
// tied to any of the processes that use it.
//
// A process that needs the server joins: it holds the folder's clients.lock, shared, as long as it lives. A server ends
// by itself when nobody has held that lock for a while. A server is running if owner.lock is held; its server.json has
// its address. If there is none, a process that needs it, or that loses the connection to a server that died, starts
// it, detached. All locks are the operating system's and end with their holders, however these die.
package devserver
