package retry

import "github.com/aws/aws-sdk-go-v2/aws"

func NewStandard() aws.LeftOut { return aws.LeftOut{} }
