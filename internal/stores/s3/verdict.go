package s3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/redsi/redsi/artifacts"
)

// verdictPath is where a store keeps what races found of its server, so that an opening asks for
// one object and races at most once in verdictFor.
const (
	verdictPath = "probe/verdict.json"
	verdictFor  = 30 * 24 * time.Hour
)

// verdict is what races found of the server at an endpoint.
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

const useOther = "AWS S3, versitygw 1.8.0, SeaweedFS 4.48 and MinIO of 2026-02-12 let one win: use one of those, or a directory, " +
	"or say writers=one in the URL if no two processes ever write at once"

// ofCreate refuses a server on which two writers can both be the first.
func (v *verdict) ofCreate() error {
	if !v.Create.Bad {
		return nil
	}
	return &artifacts.RefusedError{Err: fmt.Errorf("the server lets several writers at once be the first (%s), so two runs could each take their own result for the stored one; %s", v.Create, useOther)}
}

// ofReplace refuses to replace a record where two writers could both do that.
func (v *verdict) ofReplace() error {
	if !v.Replace.Bad {
		return nil
	}
	return &artifacts.RefusedError{Err: fmt.Errorf("the server ignores If-Match on writes, or lets several writers at once pass it (%s), so a record is not safely replaced; "+
		"run verify --repair, which deletes what cannot be used, and run again", v.Replace)}
}

// errUnconditional refuses a server on which the second writer is the first, too.
var errUnconditional = &artifacts.RefusedError{Err: errors.New("the server ignores If-None-Match on writes, so two writers of a result could both be the first; " + useOther)}

// judge has a verdict on the server: the one that the store keeps, or that of a race, if there is
// none of this server, or another is wanted anew.
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

// kept is the verdict that the store keeps, nil if it is of another server, or old, and the name of
// the server that answers now.
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

// heeds fails unless the server heeds If-None-Match of writers that come one after the other: it
// puts one fixed object, and if it may, puts it again, which must be refused. Some servers ignore
// the header without a word.
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
