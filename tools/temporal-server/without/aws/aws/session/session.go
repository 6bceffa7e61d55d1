package session

import (
	"errors"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/aws/credentials"
)

type Session struct {
	Config struct{ Credentials *credentials.Credentials }
}

func NewSession(...*aws.Config) (*Session, error) {
	return nil, errors.New("this server was built without AWS")
}
