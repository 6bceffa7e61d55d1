package server

import (
	"net/http"

	"github.com/redsi/redsi/internal/system/loopback"
)

// stranger says why a request is refused before it is looked at.
func (o Options) stranger(r *http.Request) *problem {
	status, why := loopback.Stranger(r, o.Hosts)
	switch status {
	case 0:
		return nil
	case http.StatusMisdirectedRequest:
		why += "; the server's --allow-host NAME adds one"
	}
	return &problem{Status: status, Message: why}
}
