package s3

import (
	"context"

	"github.com/minio/minio-go/v7"
)

// deniedTries is how often a put is sent before "Access Denied" is believed.
const deniedTries = 5

// whileDenied sends a put again that the server denies. MinIO on one drive makes the
// folders above a new object, and says "Access Denied" when somebody who deleted
// the last object beside it took them away twice meanwhile (cmd/os-reliable.go there:
// renameAll). A denial that is meant stays one.
func whileDenied(ctx context.Context, put func() (minio.UploadInfo, error)) (minio.UploadInfo, error) {
	for i := 1; ; i++ {
		info, err := put()
		if i == deniedTries || minio.ToErrorResponse(err).Code != minio.AccessDenied || pause(ctx, i) != nil {
			return info, err
		}
	}
}
