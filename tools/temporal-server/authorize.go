package main

import (
	"go.temporal.io/server/common/authorization"
)

// roles says what a caller may, by the name in its certificate. A caller without
// a certificate of this folder does not get as far as this.
type roles struct{}

func (roles) GetClaims(caller *authorization.AuthInfo) (*authorization.Claims, error) {
	c := &authorization.Claims{}
	if caller.TLSSubject == nil {
		return c, nil
	}
	c.Subject = caller.TLSSubject.CommonName
	switch c.Subject {
	case nameClient, nameSystem:
		c.System = authorization.RoleAdmin
	case nameUI:
		c.System = authorization.RoleReader
	}
	return c, nil
}
