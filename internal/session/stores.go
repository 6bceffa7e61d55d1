package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redsi/redsi/artifacts"
	"github.com/redsi/redsi/internal/paper/attest"
	"github.com/redsi/redsi/internal/pipeline/declare"
	"github.com/redsi/redsi/internal/pipeline/estimate"
	"github.com/redsi/redsi/internal/pipeline/plan"
	"github.com/redsi/redsi/internal/stores/open"
	"github.com/redsi/redsi/internal/system"
	"github.com/redsi/redsi/internal/system/fault"
	"github.com/redsi/redsi/internal/system/lists"
	"github.com/redsi/redsi/internal/system/shellwords"
	"github.com/redsi/redsi/internal/system/signature"
	"github.com/redsi/redsi/internal/system/words"
)

// OpenStore opens the store, with the other stores of pipeline and flags behind it.
func (se *Session) OpenStore(ctx context.Context) (*artifacts.Resolver, error) {
	own, err := se.OpenOwn(ctx)
	if err != nil {
		return nil, err
	}
	return se.WithOthers(own.Own)
}

// OpenOwn opens the store without other stores. It may have addresses of blobs elsewhere.
func (se *Session) OpenOwn(ctx context.Context) (*artifacts.Resolver, error) {
	defer se.Waiting("waiting for the store")()
	s, err := open.Store(ctx, se.StoreURL)
	if other, ok := errors.AsType[*artifacts.AddressError](err); ok {
		err = fmt.Errorf("%w: give --store %s", err, shellwords.Quote(other.URL))
	}
	if err != nil {
		return nil, fault.Input(fmt.Errorf("%s: %w", cmp.Or(se.StoreFrom, "--store"), err))
	}
	return se.Following(s), nil
}

// OtherStores are the other stores and trusted keys of the command line, which add to the pipeline's and the settings'.
type OtherStores struct {
	From      []string
	Require   bool
	Trust     []string
	Untrusted string

	Opened  []artifacts.Other // once the store is opened
	fetched fetched
}

// Addresses lists other stores in the order in which they are asked: command line, environment, settings, pipeline.
func (se *Session) Addresses() []string {
	local := lists.Map(se.Local.From, se.Local.Beside)
	return lists.Unique(slices.Concat(se.Others.From, strings.Fields(os.Getenv("REDSI_FROM")), local, se.Results.From))
}

// Policy says which results are trusted. The user's own key is trusted, and signs the results of steps.
func (se *Session) Policy() (p artifacts.Policy, err error) {
	if p.Signer, err = se.Signer(); err != nil {
		return p, err
	}
	if p.Ring, err = se.Ring(); err != nil {
		return p, err
	}
	if p.Signer != nil && p.Ring.Of(p.Signer.Public()) == signature.Unknown {
		p.Ring.Trusted = append(p.Ring.Trusted, p.Signer.Public())
	}
	untrusted := cmp.Or(se.Others.Untrusted, se.Local.Untrusted, se.Results.Untrusted)
	if untrusted != "" && !slices.Contains(declare.Beliefs, untrusted) {
		return p, fault.Input(fmt.Errorf("--untrusted %s: want run, verify or use", untrusted))
	}
	p.Foreign, p.Own = artifacts.Untrusted(untrusted), artifacts.Untrusted(se.Results.Shared)
	return p, nil
}

// MayRecord reports why results of steps here would not be trusted. Reading needs no key.
func (se *Session) MayRecord() error {
	p, err := se.Policy()
	if err != nil {
		return err
	}
	return fault.Input(p.Validate())
}

func (se *Session) Ring() (signature.Ring, error) {
	named, err := ParseTrust(se.Others.Trust)
	return signature.Ring{Trusted: slices.Concat(se.Results.Trust, named), Revoked: se.Results.Revoked}, err
}

func ParseTrust(texts []string) (keys []signature.Public, err error) {
	for _, text := range texts {
		k, err := signature.ParsePublic(text)
		if err != nil {
			return nil, fault.Input(fmt.Errorf("--trust: %w", err))
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// WithOthers looks in other stores behind a store.
func (se *Session) WithOthers(own artifacts.Store) (*artifacts.Resolver, error) {
	p, err := se.Policy()
	if err != nil {
		return nil, err
	}
	se.Others.Opened = nil
	for _, address := range se.Addresses() {
		o, err := open.Other(address)
		if err != nil {
			return nil, fault.Input(fmt.Errorf("--from %s: %w", open.Shown(address), err))
		}
		if o.URL != own.URL { // the pipeline may name this very store
			o.Blobs = countedBlobs{o.Blobs, o.Name, &se.Others.fetched}
			se.Others.Opened = append(se.Others.Opened, o)
		}
	}
	p.Elsewhere = se.elsewhere
	return artifacts.With(own, se.Others.Opened, p), nil
}

// Places names where results are looked up, for messages about waiting.
func (se *Session) Places() string {
	others := lists.Map(se.Others.Opened, func(o artifacts.Other) string { return o.Name })
	return strings.Join(append([]string{"the store"}, others...), ", then ")
}

// Following looks in a store that fetches blobs from the addresses in its records, at no cost for look-ups.
func (se *Session) Following(s artifacts.Store) *artifacts.Resolver {
	return artifacts.With(s, nil, artifacts.Policy{Elsewhere: se.elsewhere})
}

// elsewhere is open.Elsewhere, counted for the store that has the blob's address.
func (se *Session) elsewhere(ctx context.Context, e artifacts.Elsewhere) (io.ReadCloser, error) {
	r, err := open.Elsewhere(ctx, e)
	if err != nil {
		return nil, err
	}
	name := e.URL
	for _, o := range se.Others.Opened {
		if o.URL == e.From {
			name = o.Name
		}
	}
	return se.Others.fetched.counted(r, name), nil
}

// SayDown warns of other stores that do not answer, with the consequence, or fails if all are needed.
func (se *Session) SayDown(store *artifacts.Resolver, follows string) error {
	var down []string
	for _, o := range store.Others() {
		if o.Err == nil {
			continue
		}
		if down = append(down, o.Name); se.RequiresFrom() {
			se.Log.Error(o.Name+" does not answer", "err", o.Err)
		} else {
			se.Log.Warn(o.Name+" does not answer: "+follows, "err", o.Err)
		}
	}
	if len(down) > 0 && se.RequiresFrom() {
		return fault.Failed(fmt.Errorf("%s given with --from %s not answer, and --require-from needs all of them: %s", words.Count(len(down), "store"), words.Of(len(down), "does", "do"), strings.Join(down, ", ")))
	}
	return nil
}

// MayHave says which results of a preview an unreachable store may have; e may be nil.
func MayHave(v *plan.Preview, e *estimate.Estimate) string {
	if v.Done() {
		return "this plan does not need it"
	}
	text := "it may have results for the " + words.Count(len(v.Items)-v.Summary().Hit, "step") + " that would run here"
	if e != nil && e.Steps > e.Unknown {
		text += fmt.Sprintf(", %s of work going by the history of %d", words.Took(e.P50), e.Steps-e.Unknown)
	}
	return text + "; --require-from makes this an error"
}

// RequiresFrom reports whether every other store has to answer.
func (se *Session) RequiresFrom() bool { return se.Others.Require || se.Local.RequireFrom }

// Book has the attestations of a store's results, by the keys of pipeline and command line.
func (se *Session) Book(ctx context.Context, store artifacts.Store) (*attest.Book, error) {
	ring, err := se.Ring()
	if err != nil {
		return nil, err
	}
	return attest.Open(ctx, store, ring)
}

// SigningKey is the path of the user's key: REDSI_SIGNING_KEY, else in the configuration folder.
func SigningKey() (path string, given bool, err error) {
	if path = os.Getenv("REDSI_SIGNING_KEY"); path != "" {
		return path, true, nil
	}
	folder, err := os.UserConfigDir()
	return filepath.Join(folder, "redsi", "signing.key"), false, err
}

// Signer is the user's signing key; nil if there is none.
func (se *Session) Signer() (*signature.Private, error) {
	path, given, err := SigningKey()
	if err != nil {
		return nil, nil // without a home there is no key
	}
	k, err := signature.Read(path)
	if errors.Is(err, fs.ErrNotExist) && !given {
		return nil, nil
	}
	return k, fault.Input(err)
}

// RoomOf returns how many bytes are free for a store's results; -1: unknown, as for a bucket.
func RoomOf(store artifacts.Store) int64 {
	u, err := url.Parse(store.URL)
	if err != nil || u.Scheme != "file" {
		return -1
	}
	if free, ok := system.Free(filepath.FromSlash(u.Path)); ok {
		return free
	}
	return -1
}
