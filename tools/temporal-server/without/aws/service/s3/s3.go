package s3

import (
	"io"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/aws/session"
)

const (
	ErrCodeNoSuchBucket = "NoSuchBucket"
	ErrCodeNoSuchKey    = "NoSuchKey"
)

type (
	ListObjectsV2Input struct {
		Bucket, Prefix, Delimiter, ContinuationToken *string
		MaxKeys                                      *int64
	}
	ListObjectsV2Output struct {
		CommonPrefixes        []*CommonPrefix
		Contents              []*Object
		IsTruncated           *bool
		NextContinuationToken *string
	}
	CommonPrefix    struct{ Prefix *string }
	Object          struct{ Key *string }
	GetObjectInput  struct{ Bucket, Key *string }
	GetObjectOutput struct{ Body io.ReadCloser }
	PutObjectInput  struct {
		Bucket, Key *string
		Body        io.ReadSeeker
	}
	PutObjectOutput  struct{}
	HeadObjectInput  struct{ Bucket, Key *string }
	HeadObjectOutput struct{}
	HeadBucketInput  struct{ Bucket *string }
	HeadBucketOutput struct{}
)

// S3 is nil: there is no session to make one of.
type S3 interface {
	ListObjectsV2WithContext(aws.Context, *ListObjectsV2Input) (*ListObjectsV2Output, error)
	GetObjectWithContext(aws.Context, *GetObjectInput) (*GetObjectOutput, error)
	PutObjectWithContext(aws.Context, *PutObjectInput) (*PutObjectOutput, error)
	HeadObjectWithContext(aws.Context, *HeadObjectInput) (*HeadObjectOutput, error)
	HeadBucketWithContext(aws.Context, *HeadBucketInput) (*HeadBucketOutput, error)
}

func New(*session.Session) S3 { return nil }
