package stepio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/step"
)

// Checkpoints files a step's intermediate state as "checkpoints/<key>/<n>": blobs first, then the record, so that any
// worker of any run of the same key resumes at the newest. The key may be a trajectory's, which several steps share.
type Checkpoints struct {
	records artifacts.Records
	blobs   artifacts.Blobs
	key     artifacts.Digest
	log     *slog.Logger        // nil: none
	count   func(string, int64) // into the step's counts; nil: none
	useless map[string]bool     // records that Latest passed over for good
	most    int64               // highest number that Latest looks at; 0: any
}

// errForeign says that the step has not put a blob; errRecord, that a checkpoint's record is gone or names no files.
var (
	errForeign = errors.New("it does not begin with this step's line")
	errRecord  = errors.New("its record is damaged")
)

// Put stores r's bytes after a line that names the key. So no result and no other step's checkpoint shares the blob, and
// it can be deleted with its checkpoint: the store does not grow with the number of checkpoints.
func (c *Checkpoints) Put(ctx context.Context, name string, r io.Reader) (artifacts.File, error) {
	d, n, err := c.blobs.Put(ctx, io.MultiReader(strings.NewReader(c.line()), r))
	return artifacts.File{Name: name, Digest: d, Size: n}, err
}

func (c *Checkpoints) line() string { return "redsi checkpoint " + c.key.Hex() + "\n" }

// Open returns the bytes that Put read.
func (c *Checkpoints) Open(ctx context.Context, f artifacts.File) (io.ReadCloser, error) {
	r, err := c.blobs.Open(ctx, f.Digest)
	if err != nil {
		return nil, err
	}
	line := make([]byte, len(c.line()))
	if _, err = io.ReadFull(r, line); err == nil && string(line) != c.line() {
		err = errForeign
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("checkpoint %s: %s: %w", c.key, f.Name, err), r.Close())
	}
	return r, nil
}

// Save files checkpoint n and removes all except it and the one before, which is kept in case blobs of the new one are
// lost. What Latest passed over is removed, too: being newer, it would take the place of what can be used.
func (c *Checkpoints) Save(ctx context.Context, n int64, files map[string]artifacts.File) error {
	b, err := json.Marshal(files)
	if err != nil {
		return err
	}
	name := artifacts.CheckpointName(c.key, n)
	if err := c.records.Put(ctx, name, b); err != nil {
		return err
	}
	delete(c.useless, name)
	names, err := artifacts.RecordNames(ctx, c.records, artifacts.CheckpointPrefix(c.key))
	if err != nil {
		return err
	}
	kept := lists.Filter(names, func(name string) bool { return !c.useless[name] })
	kept = kept[max(0, len(kept)-2):]
	old := lists.Filter(names, func(name string) bool { return !slices.Contains(kept, name) })
	return c.remove(ctx, old, kept)
}

// remove deletes old checkpoints, records first, and their blobs that no kept checkpoint has.
func (c *Checkpoints) remove(ctx context.Context, old, kept []string) error {
	if len(old) == 0 {
		return nil
	}
	inUse := map[artifacts.Digest]bool{}
	for _, name := range kept {
		files, err := c.files(ctx, name)
		if err != nil {
			return err
		}
		for _, f := range files {
			inUse[f.Digest] = true
		}
	}
	var unused []artifacts.Digest
	for _, name := range old {
		files, err := c.files(ctx, name)
		if err == nil {
			err = c.records.Delete(ctx, name)
		}
		if err != nil {
			return err
		}
		for _, f := range files {
			if !inUse[f.Digest] {
				unused = append(unused, f.Digest)
			}
		}
	}
	for _, d := range unused {
		if err := c.blobs.Delete(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// files returns the files in a checkpoint's record; nil if it is gone or damaged.
func (c *Checkpoints) files(ctx context.Context, name string) (map[string]artifacts.File, error) {
	b, err := c.records.Get(ctx, name)
	if errors.Is(err, artifacts.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	files, _ := artifacts.DecodeCheckpoint(b) // nil: it is damaged
	return files, nil
}

// Latest gives use the newest checkpoint of which every byte can be read. A checkpoint that is damaged, or that use
// finds unfit, is logged and passed over for the one before it or for none: it must not fail its step for good.
func (c *Checkpoints) Latest(ctx context.Context, use func(n int64, files map[string]artifacts.File) error) (ok bool, err error) {
	names, err := artifacts.RecordNames(ctx, c.records, artifacts.CheckpointPrefix(c.key))
	if err != nil {
		return false, err
	}
	var failed []error // of reading what may be intact
	for _, name := range slices.Backward(names) {
		if _, n, err := artifacts.ParseCheckpointName(name); err == nil && c.most > 0 && n > c.most {
			continue
		}
		n, files, err := c.read(ctx, name)
		if err == nil {
			if err = use(n, files); err == nil {
				return true, nil
			}
			if step.IsBeyond(err) {
				continue
			}
			if !step.IsUnfit(err) {
				return false, err
			}
		}
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case artifacts.IsLost(err), errors.Is(err, errForeign), errors.Is(err, errRecord), step.IsUnfit(err):
			if c.useless == nil {
				c.useless = map[string]bool{}
			}
			c.useless[name] = true
		default:
			failed = append(failed, err)
		}
		if c.log != nil {
			c.log.Warn("a checkpoint cannot be used; continuing from the one before it, or from the beginning", "checkpoint", name, "err", err)
		}
		if c.count != nil {
			c.count("checkpoints_passed_over", 1)
		}
	}
	return false, errors.Join(failed...) // the store may answer the next attempt
}

func (c *Checkpoints) read(ctx context.Context, name string) (n int64, files map[string]artifacts.File, err error) {
	if _, n, err = artifacts.ParseCheckpointName(name); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	files, err = c.files(ctx, name)
	if err != nil {
		return 0, nil, err
	}
	if files == nil {
		return 0, nil, errRecord
	}
	for _, f := range files {
		r, err := c.Open(ctx, f)
		if err == nil { // the end of a blob verifies its bytes
			_, err = io.Copy(io.Discard, r)
			err = errors.Join(err, r.Close())
		}
		if err != nil {
			return 0, nil, err
		}
	}
	return n, files, nil
}

// Clear removes all checkpoints of a step that has its result.
func (c *Checkpoints) Clear(ctx context.Context) error {
	names, err := artifacts.RecordNames(ctx, c.records, artifacts.CheckpointPrefix(c.key))
	if err != nil {
		return err
	}
	return c.remove(ctx, names, nil)
}
