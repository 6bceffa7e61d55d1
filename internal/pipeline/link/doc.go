// Package link finds what each declaration refers to: edges, an order in which each follows what it
// refers to, circles, names that lead nowhere, what nothing refers to. It evaluates nothing.
// It imports syntax, language (the form of references), declare. Begin at Link.
package link
