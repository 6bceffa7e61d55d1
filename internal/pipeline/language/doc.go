// Package language evaluates expressions: what they can call, how much they may use, and values that are
// outputs of steps or secrets. It knows no type of block; a Scope says what an expression sees.
//
// A Session is the state of one load: what has been read, used and asked for. All is pure but for Files,
// which asks World. Begin at Scope.Value, then functions.go.
package language
