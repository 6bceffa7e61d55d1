// Package unpack gives the text of a file that may be compressed, and says what a
// file is that cannot be one: an archive, a web page, the pointer of a large file.
//
// It owns the recognition of formats by their first bytes. It must not know what the
// text means.
package unpack
