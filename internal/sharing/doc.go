// Package sharing has in its folder how results leave a project, come into another, and are
// believed there: archives (pack makes them, archive is their format, crate
// describes them), folders for a static host (publish), repositories of the Hugging Face hub
// (hub), copies between stores (transfer), signatures (signers), and what is
// accepted or made again to compare (accept, rebuild). choose decides which blobs go along, and
// files finds and writes single outputs.
//
// It imports internal/session and what is below it. It must not know flags or how
// anything is printed.
//
// Begin with archive and pack, then publish.
package sharing
