// Package tracked owns what DVC has recorded of a path of this machine: which bytes belong there, and
// where DVC keeps them, in its cache or a remote. It checks what it reads against the record, and
// changes nothing that is DVC's. What the bytes are for, and who stores them, is its callers' business.
package tracked
