module github.com/aws/aws-sdk-go-v2/config

go 1.24
