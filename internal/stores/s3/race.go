package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/redsi/redsi/artifacts"
)

// A race exposes a server that heeds a condition when writers come one after the other, and not when they come at once.
// A server that passes may still fail in another round.
const (
	rivals      = 16 // connections that write one object at once
	fewRivals   = 4  // for a server that takes longer than slowRound with 16
	slowRound   = time.Second
	raceRounds  = 20 // of each condition: a server that fails in 40 of 100 passes once in 27,000 times
	leastRounds = 5  // even if they take longer than raceTime
	raceTime    = 10 * time.Second
	undecided   = 3 // failed rounds after which the race ends without a verdict
	raceBody    = 512
)

// rounds are the rounds of one condition.
type rounds struct {
	Rounds  int  `json:"rounds"`
	Rivals  int  `json:"rivals"`
	Winners int  `json:"winners"` // of the last round: writers who were told that they wrote the object
	Bad     bool `json:"bad"`     // the last round did not have one winner, whose bytes stayed
}

func (r rounds) String() string {
	switch {
	case !r.Bad:
		return fmt.Sprintf("of %d writers at once one won, in %d of %d rounds", r.Rivals, r.Rounds, r.Rounds)
	case r.Winners == 0:
		return "it has no such condition"
	case r.Winners == 1:
		return fmt.Sprintf("one of %d writers at once was told that it won, and the bytes of another stayed, in round %d", r.Rivals, r.Rounds)
	}
	return fmt.Sprintf("%d of %d writers at once were told that they won, in round %d", r.Winners, r.Rivals, r.Rounds)
}

// race is a set of writers of one object.
type race struct {
	b       *bucket
	writers []minio.Core
	folder  string
}

// newRace connects the writers, each by its own connection, so that a load balancer spreads them.
func (b *bucket) newRace(ctx context.Context) (*race, error) {
	r := &race{b: b, folder: b.key("probe/race/" + rand.Text() + "/")}
	for range rivals {
		core, err := client(b.cfg, 1, 1)
		if err != nil {
			return nil, err
		}
		r.writers = append(r.writers, *core)
	}
	each(r.writers, func(_ int, w minio.Core) error { // an answer of any kind is a connection
		_, err := w.StatObject(ctx, b.cfg.Bucket, r.folder, minio.StatObjectOptions{})
		return err
	})
	return r, context.Cause(ctx)
}

// each calls do for all writers at once, and returns their errors.
func each(writers []minio.Core, do func(i int, w minio.Core) error) []error {
	errs := make([]error, len(writers))
	start := make(chan struct{})
	var running sync.WaitGroup
	for i, w := range writers {
		running.Go(func() {
			<-start
			errs[i] = do(i, w)
		})
	}
	close(start)
	running.Wait()
	return errs
}

// run has the writers create an object, or replace it, in rounds, until the first bad round.
func (r *race) run(ctx context.Context, replace bool) (done rounds, err error) {
	done.Rivals = rivals
	began, failed := time.Now(), 0
	for done.Rounds < raceRounds && !done.Bad && (done.Rounds < leastRounds || time.Since(began) < raceTime) {
		from := time.Now()
		winners, bad, err := r.round(ctx, fmt.Sprintf("%s%t-%d", r.folder, replace, done.Rounds+failed), replace, r.writers[:done.Rivals])
		if err != nil {
			if failed++; failed == undecided || ctx.Err() != nil {
				return done, fmt.Errorf("try writers at once: %w", err)
			}
			continue
		}
		done.Rounds, done.Winners, done.Bad = done.Rounds+1, winners, bad
		if time.Since(from) > slowRound && !bad {
			done.Rivals = fewRivals
		}
	}
	return done, nil
}

// round has all writers put their own bytes under one key. After an error there is no verdict.
func (r *race) round(ctx context.Context, key string, replace bool, writers []minio.Core) (winners int, bad bool, err error) {
	condition := ifNone
	if replace {
		info, err := r.b.put(ctx, key, []byte("{}"), minio.PutObjectOptions{})
		if err == nil && info.ETag == "" {
			return 0, true, nil // there is nothing that a condition could name
		}
		if err != nil {
			return 0, false, err
		}
		condition = func(o *minio.PutObjectOptions) { o.SetMatchETag(info.ETag) }
	}
	errs := each(writers, func(i int, w minio.Core) error {
		opts := minio.PutObjectOptions{DisableContentSha256: true} // as put
		condition(&opts)
		body := bodyOf(i)
		_, err := w.PutObject(ctx, r.b.cfg.Bucket, key, bytes.NewReader(body), raceBody, "", artifacts.Sum(body).Hex(), opts)
		return err
	})
	winner := 0 // the last winner
	for i, e := range errs {
		switch minio.ToErrorResponse(e).StatusCode {
		case http.StatusPreconditionFailed, http.StatusConflict, http.StatusNotFound:
		case http.StatusNotImplemented:
			return 0, true, nil
		default:
			if e != nil { // it may have won
				err = e
				continue
			}
			winners, winner = winners+1, i
		}
	}
	if winners > 1 || err != nil {
		return winners, winners > 1, err
	}
	if winners == 0 {
		return 0, false, errors.Join(errors.New("none of the writers won"), errs[0])
	}
	stayed, _, err := r.b.read(ctx, key, raceBody)
	return 1, err == nil && !bytes.Equal(stayed, bodyOf(winner)), err
}

// bodyOf returns the bytes that a writer puts.
func bodyOf(writer int) []byte { return bytes.Repeat([]byte{byte('a' + writer)}, raceBody) }

// end deletes what the race wrote, as far as it can; the rest does no harm.
func (r *race) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), raceTime)
	defer cancel()
	for o := range r.b.core.ListObjectsIter(ctx, r.b.cfg.Bucket, minio.ListObjectsOptions{Prefix: r.folder, Recursive: true}) {
		if o.Err != nil || r.b.remove(ctx, o.Key) != nil {
			return
		}
	}
}

// verdictPath is where a store keeps the verdict on its server, so that Open asks for one object and races at most once
// in verdictFor.
const (
	verdictPath = "probe/verdict.json"
	verdictFor  = 30 * 24 * time.Hour
)

// verdict is what races found out about the server at an endpoint.
type verdict struct {
	Endpoint string    `json:"endpoint"`
	Server   string    `json:"server"` // as its answers name it
	Tried    time.Time `json:"tried"`
	Create   rounds    `json:"create"`  // by If-None-Match
	Replace  rounds    `json:"replace"` // by If-Match
}

// Rivals implements artifacts.RivalDriver.
func (b *bucket) Rivals(ctx context.Context) (string, error) {
	if b.cfg.OneWriter {
		return "one writer at a time, as writers=one says", nil
	}
	v, err := b.judge(ctx, true)
	if err != nil {
		return "", b.explain("try writers at once", err)
	}
	if err := v.ofCreate(); err != nil {
		return "", b.explain("create", err)
	}
	said := "to create: " + v.Create.String() + "; to replace: " + v.Replace.String()
	if v.Replace.Bad {
		said += ", so what cannot be used is not replaced"
	}
	return said, nil
}

const useOther = "AWS S3, versitygw 1.8.0, SeaweedFS 4.48 and MinIO of 2026-02-12 let one win: use one of these servers, or a directory, " +
	"or say writers=one in the URL if no two processes ever write at once"

// ofCreate returns an error if two writers can both be the first on the server.
func (v *verdict) ofCreate() error {
	if !v.Create.Bad {
		return nil
	}
	return &artifacts.RefusedError{Err: fmt.Errorf("the server lets several writers at once be the first (%s), so two runs could each take their own result for the stored one; %s", v.Create, useOther)}
}

// ofReplace returns an error if two writers could both replace a record on the server.
func (v *verdict) ofReplace() error {
	if !v.Replace.Bad {
		return nil
	}
	return &artifacts.RefusedError{Err: fmt.Errorf("the server ignores If-Match on writes, or lets several writers at once pass it (%s), so a record is not safely replaced; "+
		"run verify --repair, which deletes what cannot be used, and run again", v.Replace)}
}

// errUnconditional says that a second writer overwrites the first.
var errUnconditional = &artifacts.RefusedError{Err: errors.New("the server ignores If-None-Match on writes, so two writers of a result could both be the first; " + useOther)}

// judge returns the verdict on the server that the store keeps or, if there is none, or anew is true, the verdict of a
// race.
func (b *bucket) judge(ctx context.Context, anew bool) (*verdict, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.judged != nil && !anew {
		return b.judged, nil
	}
	v, server, err := b.kept(ctx)
	if err != nil || v != nil && !anew {
		b.judged = v
		return v, err
	}
	if err := b.heeds(ctx); err != nil {
		return nil, err
	}
	r, err := b.newRace(ctx)
	if err != nil {
		return nil, err
	}
	defer r.end(ctx)
	v = &verdict{Endpoint: b.cfg.Endpoint, Server: server, Tried: time.Now().UTC().Truncate(time.Second)}
	if v.Create, err = r.run(ctx, false); err != nil {
		return nil, err
	}
	if v.Replace, err = r.run(ctx, true); err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	if err == nil {
		_, err = b.put(ctx, b.key(verdictPath), text, minio.PutObjectOptions{})
	}
	if err != nil {
		return nil, err
	}
	b.judged = v
	return v, nil
}

// kept returns the verdict that the store keeps, nil if it is old or of another server, and the name of the server that
// answers now.
func (b *bucket) kept(ctx context.Context) (v *verdict, server string, err error) {
	body, _, header, err := b.core.GetObject(ctx, b.cfg.Bucket, b.key(verdictPath), minio.GetObjectOptions{})
	if absent(err) {
		return nil, minio.ToErrorResponse(err).Server, nil
	}
	if err != nil {
		return nil, "", err
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(&v); err != nil {
		v = nil // cut off, or not ours
	}
	server = header.Get("Server")
	if v == nil || v.Endpoint != b.cfg.Endpoint || v.Server != server || time.Since(v.Tried).Abs() > verdictFor || v.Create.Rounds*v.Replace.Rounds == 0 {
		return nil, server, nil
	}
	return v, server, nil
}

// heeds fails unless the server heeds If-None-Match of writers that come one after the other: a put of one fixed object
// must be refused, the first or the second. Some servers ignore the header without a word.
func (b *bucket) heeds(ctx context.Context) error {
	for puts, collided := 0, 0; puts < 2; {
		opts := minio.PutObjectOptions{}
		ifNone(&opts)
		_, err := b.put(ctx, b.key("probe/if-none-match"), []byte("{}"), opts)
		switch resp := minio.ToErrorResponse(err); {
		case resp.StatusCode == http.StatusPreconditionFailed:
			return nil
		case resp.StatusCode == http.StatusConflict && collided < conflicts: // it decides nothing
			if err := pause(ctx, collided); err != nil {
				return err
			}
			collided++
		case err == nil:
			puts++
		case resp.StatusCode == http.StatusNotImplemented, resp.Code == minio.NotImplemented:
			return errUnconditional
		default:
			return err
		}
	}
	return errUnconditional
}
