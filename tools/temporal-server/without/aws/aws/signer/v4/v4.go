package v4

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go/aws/credentials"
)

type Signer struct{}

func NewSigner(*credentials.Credentials) *Signer { return nil }

func (*Signer) Sign(*http.Request, io.ReadSeeker, string, string, time.Time) (http.Header, error) {
	return nil, errors.New("this server was built without AWS")
}
