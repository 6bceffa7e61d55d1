package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// Look asks whether a source is available, without fetching it, and returns its size in bytes, -1 if the server gives none.
func Look(ctx context.Context, s Source) (size int64, err error) {
	if s.Path != "" {
		info, err := os.Stat(s.Path)
		if err != nil {
			return 0, err
		}
		if !info.Mode().IsRegular() {
			return 0, fmt.Errorf("%s is not a file", s.Path)
		}
		return info.Size(), nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, s.URL, nil)
	if err != nil {
		return 0, redacted{err}
	}
	res, err := httpClient.Do(req)
	if err != nil {
		return 0, redacted{err}
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, errors.New(res.Status)
	}
	return res.ContentLength, nil
}
