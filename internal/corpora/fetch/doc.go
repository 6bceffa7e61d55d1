// Package fetch downloads a file from https, http, file and gs (public buckets, over https). An interrupted transfer
// continues where it stopped, in this process or a later one; the bytes are hashed, and checked against a given checksum. It
// owns transfers and partial files; it must not know steps, stores or what is in the file.
package fetch
