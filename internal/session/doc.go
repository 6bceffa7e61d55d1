// Package session has in its folder what every verb needs and what needs no command line:
// fault says whose an error is, the user's to correct or ours.
package session
