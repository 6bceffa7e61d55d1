// Package environment reads lock files of environments: uv.lock, locks of scripts, pylock.toml, requirements.txt with
// hashes, conda-lock.yml, pixi.lock, flake.lock, and references of images by digest.
//
// A Recipe says how to build an environment: the texts of its lock and what was chosen of it. Manifest says which
// packages these are on a platform, as a libraries.Manifest without paths, comments, order and packages of other
// platforms. The package starts no process, reads no file and asks nobody; package realize builds the environment.
package environment
