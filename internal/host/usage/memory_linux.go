package usage

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
)

// resident returns a reader of this process's present memory; nil if the system does not tell it.
func resident() func() (int64, bool) {
	file, err := os.Open("/proc/self/statm")
	if err != nil {
		return nil
	}
	page := int64(os.Getpagesize())
	return func() (int64, bool) {
		var b [128]byte
		n, err := file.ReadAt(b[:], 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, false
		}
		f := bytes.Fields(b[:n])
		if len(f) < 2 {
			return 0, false
		}
		pages, err := strconv.ParseInt(string(f[1]), 10, 64)
		return pages * page, err == nil
	}
}

// inherited is the most memory in this process's record at its start: that of its parent, if that was more.
var inherited = func() int64 {
	r, _ := self()
	return MaxMemory(&r)
}()

// mostResident returns the most memory that this process has had: from its record, once that is above inherited.
func mostResident() (int64, bool) {
	if r, ok := self(); ok && MaxMemory(&r) > inherited {
		return MaxMemory(&r), true
	}
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	_, after, _ := bytes.Cut(text, []byte("\nVmHWM:"))
	f := bytes.Fields(after)
	if len(f) == 0 {
		return 0, false
	}
	kB, err := strconv.ParseInt(string(f[0]), 10, 64)
	return kB << 10, err == nil
}
