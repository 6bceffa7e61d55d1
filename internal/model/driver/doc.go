// Package driver asks NVIDIA's libraries, where this machine has them: the management library
// for all its cards, the driver's for the cards of this process.
package driver

import "sync"

// Here is Look of this machine, taken once: cards that come later are not seen. Look asks anew,
// for example how much of a card is free.
var Here = sync.OnceValue(Look)
