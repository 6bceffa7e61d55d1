package hashed

import (
	"io/fs"
	"math"
)

// tell knows of no inode or ctime on Windows: such a stamp proves nothing.
func (st *Stamp) tell(fs.FileInfo) { st.CTime = math.MaxInt64 }
