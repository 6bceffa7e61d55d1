package s3

import (
	"context"
	"crypto/rand"
	"fmt"
	mrand "math/rand/v2"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/redsi/redsi/artifacts"
)

// lease is how long a claim counts. A writer that holds one stops to write well
// before it ends; the claim of a writer that was killed is swept after it.
const lease = time.Minute

// patience is how long a writer waits for its turn: a few leases of writers that
// were killed.
const patience = 5 * lease

// createByClaim creates a record on a server without conditional puts, using
// only what every S3 has since 2020: a listing shows all writes that ended
// before it began.
//
//  1. Put a claim of one's own under claims/NAME/.
//  2. List the claims. Proceed only if one's own is alone. Otherwise the smallest
//     one waits for the others to go, and the others go and come back later.
//  3. Look for the record, and write it if it is not there.
//  4. Delete the claim, after the record is visible.
//
// Two writers cannot both pass 2 and 3: the claim that was put last is listed
// after the other one was put, so its writer saw that claim, or the claim was
// deleted already and then the record is there to see in 3. This holds while no
// request takes effect later than a lease after it was sent; a writer gives up
// its turn at half of that.
func (r *Records) createByClaim(ctx context.Context, name string, data []byte) (bool, error) {
	key := r.recordKey(name)
	claims := r.key(r.claims + artifacts.RecordPath(name) + "/")
	mine := ""
	defer func() {
		if mine != "" {
			r.withdraw(ctx, mine)
		}
	}()
	var since time.Time
	for i, start := 0, time.Now(); time.Since(start) < patience; i++ {
		if there, err := r.exists(ctx, key); err != nil || there {
			return false, err
		}
		if mine != "" && time.Since(since) > lease/4 {
			r.withdraw(ctx, mine)
			mine = ""
		}
		if mine == "" {
			mine, since = claims+rand.Text(), time.Now()
			if _, err := r.put(ctx, mine, []byte("{}"), minio.PutObjectOptions{}); err != nil {
				return false, err
			}
		}
		alone, smallest, err := r.rivals(ctx, claims, mine)
		if err != nil {
			return false, err
		}
		if alone {
			there, err := r.exists(ctx, key)
			if err != nil || there {
				return false, err
			}
			if time.Since(since) > lease/4 {
				continue
			}
			short, cancel := context.WithDeadline(ctx, since.Add(lease/2))
			_, err = r.put(short, key, data, minio.PutObjectOptions{})
			cancel()
			if err != nil {
				mine = "" // the write may yet arrive: let the claim stand until it ends
			}
			return err == nil, err
		}
		wait := min(i, 3) // for the others to see that it is not their turn
		if !smallest {
			r.withdraw(ctx, mine)
			mine, wait = "", i
		}
		if err := pause(ctx, wait); err != nil {
			return false, err
		}
	}
	return false, fmt.Errorf("other writers have claimed %s for %s; look below %s", name, patience, r.where(claims))
}

func (r *Records) exists(ctx context.Context, key string) (bool, error) {
	_, err := r.core.StatObject(ctx, r.cfg.Bucket, key, minio.StatObjectOptions{})
	if absent(err) {
		return false, nil
	}
	return err == nil, err
}

// rivals lists the claims and reports whether mine is the only one that counts,
// and whether it is the smallest. Claims more than a lease older than mine, by
// the server's clock, are swept.
func (r *Records) rivals(ctx context.Context, claims, mine string) (alone, smallest bool, err error) {
	var all []minio.ObjectInfo
	var now time.Time
	for o, err := range r.list(ctx, claims) {
		if err != nil {
			return false, false, err
		}
		if o.Key == mine {
			now = o.LastModified
		}
		all = append(all, o)
	}
	if now.IsZero() { // swept by somebody for whom this writer was too slow
		return false, false, nil
	}
	alone, smallest = true, true
	for _, o := range all {
		switch {
		case o.Key == mine:
		case now.Sub(o.LastModified) > lease:
			r.withdraw(ctx, o.Key)
		default:
			alone = false
			smallest = smallest && mine < o.Key
		}
	}
	return alone, smallest, nil
}

// withdraw deletes a claim, also when ctx is over. Should that fail, the claim
// ends with its lease.
func (r *Records) withdraw(ctx context.Context, claim string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lease/4)
	defer cancel()
	r.core.RemoveObject(ctx, r.cfg.Bucket, claim, minio.RemoveObjectOptions{})
}

func jitter(most time.Duration) time.Duration {
	return time.Duration(mrand.Int64N(int64(most)) + 1)
}
