// Package devserver runs the embedded Temporal server: the `temporal server
// start-dev` program with a database file, its UI on a free port, tuned as
// design.md §5 measured. It owns that process and nothing else.
package devserver
