// Package devserver runs the embedded Temporal server of a state folder: the
// program tools/temporal-server, which belongs to no process that uses it.
//
// Who needs a server joins. Joining holds the folder's clients.lock, shared, for
// as long as the process lives; a server ends by itself when nobody has held
// that lock for a while. A server is there if owner.lock is held; it says in
// server.json how it is reached. If there is none, whoever needs one starts it,
// detached, and so does whoever loses the connection to one that died. All locks
// are the operating system's and end with their holders, however these die.
package devserver
