// Package tracked owns what DVC has recorded of a path of this machine: which bytes belong there, and where DVC keeps
// them, in its cache or a remote. It checks what it reads against the record, and changes nothing of DVC's. It must not
// know what the bytes are for.
package tracked
