package s3iface

import "github.com/aws/aws-sdk-go/service/s3"

type S3API = s3.S3
