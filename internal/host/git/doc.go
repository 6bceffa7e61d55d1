// Package git runs the git program so that neither a repository nor a user's settings can make it run programs or ask
// questions, and reads the files of a commit from git's objects: without checkout, filters and hooks.
//
// It must not know what the files are for.
package git
