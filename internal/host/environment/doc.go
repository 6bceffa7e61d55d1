// Package environment reads lock files of environments: uv.lock and those of scripts,
// pylock.toml, requirements.txt with hashes, conda-lock.yml, pixi.lock, flake.lock, and references
// of images by digest.
//
// A Recipe is what an environment is made from: the texts of its lock and what was chosen of it.
// Manifest says which packages that is on a platform, as a libraries.Manifest without paths,
// comments, order or what other platforms take. It starts no process, reads no file and asks
// nobody; package realize makes the environment.
package environment
