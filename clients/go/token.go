package berth

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
)

// TokenSource returns the caller's own token. It is called before each call that needs one, so a token that is
// replaced while the program runs is used at once. An empty token sends none.
type TokenSource func(ctx context.Context) (string, error)

var tokenPattern = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]+$`)

// StaticToken always returns the same token.
func StaticToken(token string) TokenSource {
	return func(context.Context) (string, error) { return token, nil }
}

// FileToken reads the token from a file each time, because Kubernetes replaces the tokens that it mounts.
func FileToken(path string) TokenSource {
	return func(context.Context) (string, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("berth: Cannot read the token: %w", err)
		}
		token := string(bytes.TrimSpace(text))
		if !tokenPattern.MatchString(token) {
			return "", fmt.Errorf("berth: Cannot use the token in %s: it is not a token", path)
		}
		return token, nil
	}
}

// EnvironmentToken finds the token as the command berth does: BERTH_TOKEN, then the file BERTH_TOKEN_FILE, then
// BERTH_ID_TOKEN. It returns nil if none is set. Inside of berth run, BERTH_TOKEN may be the token of that lease,
// which is not the caller's own.
func EnvironmentToken() TokenSource {
	if token := os.Getenv("BERTH_TOKEN"); token != "" && !isLeaseToken(token) {
		return StaticToken(token)
	}
	if path := os.Getenv("BERTH_TOKEN_FILE"); path != "" {
		return FileToken(path)
	}
	if token := os.Getenv("BERTH_ID_TOKEN"); token != "" {
		return StaticToken(token)
	}
	return nil
}

func isLeaseToken(token string) bool {
	lease := os.Getenv("BERTH_LEASE_TOKEN")
	return os.Getenv("BERTH_LEASE_ID") != "" && (lease == "" || lease == token)
}
