// Package libraries tells what is installed for the interpreter of a program: the Python of
// a virtual environment, of conda or of the system, by the files on its disk. It starts no
// process and imports nothing.
//
// What it tells, a Manifest, has no paths, times or names of machines: two environments with
// the same packages have the same one wherever they are. Files are hashed where size or time
// says that they are not as they were installed, or where no distribution lists them; a
// Memory says from the times and sizes of all of them whether anything has moved since.
package libraries
