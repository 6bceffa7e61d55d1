package artifacts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redsi/redsi/internal/system/values"
)

// CheckpointPrefix begins the names of a step's checkpoints.
func CheckpointPrefix(key Digest) string { return ckptPrefix + key.Hex() + "/" }

// CheckpointName returns the name of checkpoint n of a step. Names sort by number.
func CheckpointName(key Digest, n int64) string {
	return fmt.Sprintf("%s%016d", CheckpointPrefix(key), n)
}

// ParseCheckpointName is the inverse of CheckpointName.
func ParseCheckpointName(name string) (key Digest, n int64, err error) {
	hex, count, ok := strings.Cut(strings.TrimPrefix(name, ckptPrefix), "/")
	if ok {
		if key, err = ParseHex(hex); err == nil {
			n, err = strconv.ParseInt(count, 10, 64)
		}
	}
	if !ok || err != nil || n < 0 || !strings.HasPrefix(name, ckptPrefix) {
		return Digest{}, 0, fmt.Errorf("%q is not the name of a checkpoint", name)
	}
	return key, n, nil
}

// NewestCheckpoints returns the number of the newest checkpoint of every step that has some, by key.
// Whether it can be used shows when it is read.
func NewestCheckpoints(ctx context.Context, records RecordReader) (map[Digest]int64, error) {
	newest := map[Digest]int64{}
	names, err := RecordNames(ctx, records, ckptPrefix)
	for _, name := range names {
		if key, n, err := ParseCheckpointName(name); err == nil {
			newest[key] = max(newest[key], n)
		}
	}
	return newest, err
}

// FurthestCheckpoint returns the largest number, of most at the most, of a key's checkpoints; 0 if it
// has none. Whether the checkpoint can be used shows when it is read.
func FurthestCheckpoint(ctx context.Context, records RecordReader, key Digest, most int64) (furthest int64, err error) {
	names, err := RecordNames(ctx, records, CheckpointPrefix(key))
	for _, name := range names {
		if _, n, err := ParseCheckpointName(name); err == nil && n <= most {
			furthest = max(furthest, n)
		}
	}
	return furthest, err
}

// DecodeCheckpoint reads a checkpoint's record: files by name. A name that could lead out of a folder
// is an error, and so is anything else that no step writes.
func DecodeCheckpoint(b []byte) (map[string]File, error) {
	var files map[string]File
	if err := values.Written(b, &files); err != nil {
		return nil, fmt.Errorf("the checkpoint is not JSON: %w", err)
	}
	if len(files) == 0 {
		return nil, errors.New("the checkpoint has no files")
	}
	for name, f := range files {
		if f.Name != name {
			return nil, fmt.Errorf("file %.200q of the checkpoint has another name, %.200q", name, f.Name)
		}
	}
	if _, err := Tree("", slices.Collect(maps.Values(files))); err != nil {
		return nil, fmt.Errorf("the checkpoint: %w", err)
	}
	return files, nil
}

// checkpointDamage says why a checkpoint cannot be resumed from.
func checkpointDamage(name string, text []byte, corrupt map[Digest]bool) error {
	if _, _, err := ParseCheckpointName(name); err != nil {
		return err
	}
	files, err := DecodeCheckpoint(text)
	if err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if d := files[file].Digest; corrupt[d] {
			return fmt.Errorf("blob %s is corrupt", d)
		}
	}
	return nil
}
