// Package git runs the git program without what a repository or a user's settings could
// make it run or ask, and reads the files of a commit where they lie: nothing is checked
// out, no filter and no hook sees them.
//
// It must not know what the files are of.
package git
