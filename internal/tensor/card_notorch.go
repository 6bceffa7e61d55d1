//go:build notorch

package tensor

import "github.com/redsi/redsi/internal/tensor/cudalib"

// Card says that there is none for this build, and how to get one that has.
func Card() cudalib.State { return cudalib.State{Reason: Available().Error()} }
