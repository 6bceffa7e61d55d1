package s3

import (
	"context"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

type (
	Client  struct{}
	Options struct {
		BaseEndpoint *string
		UsePathStyle bool
	}
	ListObjectsV2Input struct {
		Bucket, Prefix, Delimiter, ContinuationToken *string
		MaxKeys                                      *int32
	}
	ListObjectsV2Output struct {
		CommonPrefixes        []types.CommonPrefix
		Contents              []types.Object
		IsTruncated           *bool
		NextContinuationToken *string
	}
	GetObjectInput  struct{ Bucket, Key *string }
	GetObjectOutput struct{ Body io.ReadCloser }
	PutObjectInput  struct {
		Bucket, Key *string
		Body        io.Reader
	}
	PutObjectOutput  struct{}
	HeadObjectInput  = GetObjectInput
	HeadObjectOutput struct{}
	HeadBucketInput  struct{ Bucket *string }
	HeadBucketOutput struct{}
)

func NewFromConfig(aws.Config, ...func(*Options)) *Client { return nil }

type option = func(*Options)

func (*Client) ListObjectsV2(context.Context, *ListObjectsV2Input, ...option) (*ListObjectsV2Output, error) {
	return nil, aws.ErrLeftOut
}
func (*Client) GetObject(context.Context, *GetObjectInput, ...option) (*GetObjectOutput, error) {
	return nil, aws.ErrLeftOut
}
func (*Client) PutObject(context.Context, *PutObjectInput, ...option) (*PutObjectOutput, error) {
	return nil, aws.ErrLeftOut
}
func (*Client) HeadObject(context.Context, *HeadObjectInput, ...option) (*HeadObjectOutput, error) {
	return nil, aws.ErrLeftOut
}
func (*Client) HeadBucket(context.Context, *HeadBucketInput, ...option) (*HeadBucketOutput, error) {
	return nil, aws.ErrLeftOut
}
