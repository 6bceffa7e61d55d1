package credentials

import "github.com/aws/aws-sdk-go-v2/aws"

func NewStaticCredentialsProvider(_, _, _ string) aws.LeftOut { return aws.LeftOut{} }
