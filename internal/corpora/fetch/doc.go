// Package fetch brings a file from where it is published: https, http, file and
// gs (public buckets, over https). An interrupted transfer continues where it
// stopped, in this process or the next one; the bytes are hashed, and checked
// against a checksum where one is known. It owns transfers and partial files;
// it must not know steps, stores or what is in the file.
package fetch
