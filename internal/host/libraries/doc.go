// Package libraries tells what is installed for the interpreter of a program: the Python of a virtual environment, of
// conda or of the system, by the files on its disk. It starts no process and imports nothing.
//
// The result, a Manifest, has no paths, times or names of machines: environments with the same packages have the same
// Manifest wherever they are. Files are hashed only if their size or time says that they changed after installation, or
// if no distribution lists them; a Memory says from the times and sizes of all files whether anything has changed since.
package libraries
