package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/readers"
)

type Request struct {
	Sources  []Source                // tried in order; the first that works wins
	SHA256   string                  // hex; "" if it is not pinned
	Partials string                  // folder for partial files; they survive the process
	Progress func(done, total int64) // total 0 if the server does not say
	Log      func(msg string, args ...any)

	// Wait is the first pause after a failure, doubled up to 64 times Wait; 0 means a second.
	Wait time.Duration

	pace readers.Pace // 0: usual
}

type Fetched struct {
	Path   string
	Size   int64
	SHA256 string
	Source Source
	temp   bool
	lock   *flock.Flock // held until Close, to own the file alone
}

// Close removes the file if it was a partial one.
func (f *Fetched) Close() error {
	if !f.temp {
		return nil
	}
	err := errors.Join(os.Remove(f.Path), os.RemoveAll(metaPath(f.Path)))
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// Permanent is an error that a retry cannot mend: the source does not exist, or its bytes differ from the pinned bytes.
type Permanent struct{ Err error }

func (p *Permanent) Error() string { return p.Err.Error() }
func (p *Permanent) Unwrap() error { return p.Err }

// A source is given up after so many attempts without readers.Progress between them, half a minute; after patience, an hour,
// if it has sent a part of the file, cannot be reached, and is the last. Failed steps are retried ten times, a night.
const (
	attempts = 6
	patience = 60
)

// Get downloads a file. Errors say why each source failed; the error is Permanent if all of them are.
func Get(ctx context.Context, r Request) (*Fetched, error) {
	r.Wait = cmp.Or(r.Wait, time.Second)
	if r.pace == (readers.Pace{}) {
		r.pace = readers.Usual()
	}
	if r.Log == nil {
		r.Log = func(string, ...any) {}
	}
	if r.Progress == nil {
		r.Progress = func(int64, int64) {}
	}
	var failed []error
	permanent := true
	for i, s := range r.Sources {
		f, err := r.from(ctx, s, i == len(r.Sources)-1)
		if err == nil {
			return f, nil
		}
		err = redacted{err}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		permanent = permanent && errors.As(err, new(*Permanent))
		failed = append(failed, fmt.Errorf("%s: %w", Redact(s.Raw), err))
		r.Log("source failed", "source", Redact(s.Raw), "err", err)
	}
	err := errors.Join(failed...)
	if permanent {
		err = &Permanent{err}
	}
	return nil, err
}

func (r *Request) from(ctx context.Context, s Source, last bool) (*Fetched, error) {
	if s.Path != "" {
		return r.local(ctx, s)
	}
	if err := os.MkdirAll(r.Partials, 0o755); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(s.URL))
	part := filepath.Join(r.Partials, hex.EncodeToString(sum[:16])+".part")
	// One process at a time transfers a source; the next continues the transfer of a failed or killed process, or starts over.
	lock := flock.New(part + ".lock")
	free, err := lock.TryLock()
	if err == nil && !free {
		r.Log("waiting for another transfer of this source to the same folder", "source", Redact(s.Raw))
		_, err = lock.TryLockContext(ctx, 100*time.Millisecond)
	}
	if err != nil {
		return nil, system.LockError(err, lock.Path(), "name a state folder of another one with --state or REDSI_STATE")
	}
	f, err := r.fetch(ctx, s, part, last)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	f.lock = lock
	return f, nil
}

func (r *Request) fetch(ctx context.Context, s Source, part string, last bool) (*Fetched, error) {
	wait, since, told := r.Wait, time.Now(), false
	for try := 1; ; try++ {
		before := sizeOf(part)
		err := r.transfer(ctx, s, part)
		if err == nil {
			break
		}
		if errors.As(err, new(*Permanent)) || ctx.Err() != nil {
			return nil, err
		}
		if sizeOf(part)-before >= readers.Progress {
			try, wait, since = 1, r.Wait, time.Now()
		}
		most, says := attempts, "transfer interrupted; continuing"
		if _, have := readPartial(part, Redact(s.URL)); have > 0 && last && readers.Unreachable(err) {
			most, says = patience, fmt.Sprintf("out of reach since %s; the transfer is retried, and continues. If you stop, the next run continues it", since.Format("15:04"))
		}
		if try >= most {
			return nil, fmt.Errorf("gave up after %d attempts without progress: %w", try, err)
		}
		if most == attempts || !told {
			r.Log(says, "source", Redact(s.Raw), "at", sizeOf(part), "err", redacted{err})
		}
		told = most == patience
		if err := readers.Pause(ctx, wait); err != nil {
			return nil, err
		}
		wait = min(2*wait, 64*r.Wait)
	}
	f := &Fetched{Path: part, Source: s, temp: true}
	if err := r.check(ctx, f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (r *Request) local(ctx context.Context, s Source) (*Fetched, error) {
	info, err := os.Stat(s.Path)
	if err != nil {
		return nil, &Permanent{err}
	}
	if !info.Mode().IsRegular() {
		return nil, &Permanent{fmt.Errorf("%s is not a regular file", s.Path)}
	}
	f := &Fetched{Path: s.Path, Source: s}
	return f, r.check(ctx, f)
}

func (r *Request) check(ctx context.Context, f *Fetched) error {
	in, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	h := sha256.New()
	if f.Size, err = io.Copy(h, readers.WithContext(ctx, in)); err != nil {
		return err
	}
	f.SHA256 = hex.EncodeToString(h.Sum(nil))
	if r.SHA256 != "" && f.SHA256 != r.SHA256 {
		return &Permanent{&MismatchError{Source: f.Source, Size: f.Size, Got: f.SHA256, Want: r.SHA256}}
	}
	return nil
}

// MismatchError says that a source's bytes differ from the pinned bytes.
type MismatchError struct {
	Source    Source
	Size      int64
	Got, Want string // sha256 in hex
}

func (e *MismatchError) Error() string {
	hint := "the source has changed or is damaged; if you trust the new bytes, remove its pin"
	if e.Source.Path != "" {
		hint = "the file has changed since it was planned, or is another one on this machine; plan and run again"
	}
	return fmt.Sprintf("its %d bytes have sha256 %s, not the pinned %s: %s", e.Size, e.Got, e.Want, hint)
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
