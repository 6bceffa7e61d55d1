package loopback

import "net"

// FreeAddress returns 127.0.0.1 with a port that the system gives to nobody for a minute, since a connection on it is in
// TIME_WAIT. Whoever asks for the port by number gets it.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	out, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return "", err
	}
	in, err := l.Accept()
	if err != nil {
		out.Close()
		return "", err
	}
	in.Close() // first, so that the port's side waits
	out.Close()
	return l.Addr().String(), nil
}
