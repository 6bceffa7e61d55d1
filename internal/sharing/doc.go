// Package sharing has in its folder how results leave a project, come into another, and are believed there: archives
// (pack writes them, archive is their format, crate describes them), folders for a static host (publish), repositories of
// the Hugging Face hub (hub), copies between stores (transfer), signatures (signers), and results that are accepted or
// rebuilt to compare (accept, rebuild). choose decides which blobs go along, and files finds and writes single outputs.
//
// It imports internal/session and packages below it. It must not know flags or how anything is printed.
//
// Begin with archive and pack, then publish.
package sharing
