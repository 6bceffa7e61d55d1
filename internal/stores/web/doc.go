// Package web reads a store from a static host: files under https addresses in the layout of a directory. It asks for
// records and blobs by name, lists nothing and writes nothing.
//
// It must not know whose results count: that is for package artifacts.
package web
