// Package driver asks NVIDIA's libraries, where this machine has them: the management library
// for all its cards, the driver's for those of this process.
package driver

import "sync"

// Here is Look of this machine, once; cards that come later are not seen. How much of a card
// is free is that of this moment: Look asks anew.
var Here = sync.OnceValue(Look)
