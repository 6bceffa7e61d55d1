// Package web reads a store from a static host: files under https addresses in the layout
// of a directory. Records and blobs are asked for by name; nothing can be listed, and
// nothing is ever written.
//
// It must not know whose results count: that is for package artifacts.
package web
