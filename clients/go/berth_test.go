package berth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// What the client shares with the other clients is tested with clients/vectors, against a real server. These tests
// are about what only Go has: contexts, channels, races, tokens that rotate. The server here is a script.
type script struct {
	t *testing.T
	*httptest.Server
	mu     sync.Mutex
	tokens []string
	beats  atomic.Int64
	// ended: heartbeats are refused.
	ended    atomic.Bool
	waiting  atomic.Bool
	released atomic.Int64
	left     atomic.Int64
}

func newScript(t *testing.T) *script {
	s := &script{t: t}
	s.Server = httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(s.Close)
	return s
}

func (s *script) handle(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.tokens = append(s.tokens, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	s.mu.Unlock()
	now := time.Now().UTC()
	lease := map[string]any{
		"id": "1", "token": "secret", "ttl": "3s", "grantedAt": now, "endsAt": nil, "revokedAt": nil,
		"claims": []map[string]any{{"id": "1", "pool": "aws", "resource": "aws-1", "fence": 1794894368952001}},
	}
	waiting := map[string]any{"id": "1", "token": "secret", "position": 3, "reason": map[string]any{"message": "none free"}}
	switch line := r.Method + " " + r.URL.Path; line {
	case "POST /v1/leases":
		if s.waiting.Load() {
			reply(w, http.StatusAccepted, waiting)
			return
		}
		reply(w, http.StatusCreated, lease)
	case "GET /v1/requests/1":
		select {
		case <-r.Context().Done():
		case <-time.After(50 * time.Millisecond):
		}
		reply(w, http.StatusAccepted, waiting)
	case "DELETE /v1/requests/1":
		s.left.Add(1)
		w.WriteHeader(http.StatusNoContent)
	case "POST /v1/leases/1/heartbeat":
		s.beats.Add(1)
		if s.ended.Load() {
			reply(w, http.StatusGone, map[string]any{"code": "lease_ended", "status": 410, "detail": "Cannot: gone", "hint": "x"})
			return
		}
		reply(w, http.StatusOK, map[string]any{"id": "1", "expiresAt": now.Add(3 * time.Second), "endsAt": nil})
	case "GET /v1/leases/1":
		<-r.Context().Done()
	case "DELETE /v1/leases/1":
		s.released.Add(1)
		w.WriteHeader(http.StatusNoContent)
	default:
		s.t.Errorf("unexpected call %s", line)
	}
}

// seen returns the tokens of all calls so far. The client's own goroutines may still be calling.
func (s *script) seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.tokens, " ")
}

func reply(w http.ResponseWriter, status int, body any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (s *script) client(options ...Option) *Client {
	client, err := New(s.URL, options...)
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

var request = Request{Items: []Item{{Pool: "aws"}}, Holder: "test"}

func TestDoCancelsTheWorkWhenTheLeaseIsLost(t *testing.T) {
	server := newScript(t)
	err := server.client().Do(context.Background(), request, func(ctx context.Context, lease *Lease) error {
		if names := lease.Resources("aws"); len(names) != 1 || names[0] != "aws-1" {
			t.Errorf("got %v", names)
		}
		server.ended.Store(true)
		<-ctx.Done()
		var lost *LostError
		if !errors.As(context.Cause(ctx), &lost) || lost.Cause != Ended {
			t.Errorf("the cause is %v", context.Cause(ctx))
		}
		select {
		case <-lease.Lost():
		default:
			t.Error("Lost is not closed")
		}
		return ctx.Err()
	})
	if ExitCode(err) != 76 {
		t.Errorf("got %v", err)
	}
	if server.released.Load() != 1 {
		t.Errorf("released %d times", server.released.Load())
	}
}

func TestDoReleasesAfterAPanic(t *testing.T) {
	server := newScript(t)
	defer func() {
		if recover() == nil || server.released.Load() != 1 {
			t.Errorf("released %d times", server.released.Load())
		}
	}()
	_ = server.client().Do(context.Background(), request, func(context.Context, *Lease) error { panic("work") })
}

func TestHeartbeatsGoOnUntilRelease(t *testing.T) {
	server := newScript(t)
	lease, err := server.client().Acquire(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	for server.beats.Load() < 3 {
		time.Sleep(10 * time.Millisecond)
	}
	if err := lease.Release(context.Background()); err != nil {
		t.Error(err)
	}
	if err := lease.Release(context.Background()); err != nil || server.released.Load() != 1 {
		t.Errorf("the second release: %v, %d calls", err, server.released.Load())
	}
	time.Sleep(500 * time.Millisecond) // A heartbeat that was on its way may still arrive.
	before := server.beats.Load()
	time.Sleep(2 * lease.TTL / beatsPerTTL)
	if server.beats.Load() != before {
		t.Error("heartbeats go on after the release")
	}
}

func TestAcquireLeavesTheQueueWhenTheContextEnds(t *testing.T) {
	server := newScript(t)
	server.waiting.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_, err := server.client().Acquire(ctx, request)
	var notGranted *NotGrantedError
	if !errors.As(err, &notGranted) || notGranted.Last.Position != 3 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if server.left.Load() != 1 {
		t.Errorf("left %d times", server.left.Load())
	}
	stopped, stop := context.WithCancel(context.Background())
	whileWaiting := WithOnWaiting(func(Waiting) { stop() })
	if _, err := server.client(whileWaiting).Acquire(stopped, request); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if server.left.Load() != 2 {
		t.Errorf("left %d times", server.left.Load())
	}
}

func TestTokensAreReadAgainForEachRequest(t *testing.T) {
	server := newScript(t)
	path := filepath.Join(t.TempDir(), "token")
	client := server.client(WithTokenSource(FileToken(path)))
	for _, token := range []string{"first", "second"} {
		if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		lease, err := client.Acquire(context.Background(), request)
		if err != nil {
			t.Fatal(err)
		}
		_ = lease.Release(context.Background())
	}
	all := server.seen()
	if !strings.HasPrefix(all, "first secret ") || !strings.Contains(all, " second secret ") {
		t.Errorf("got %s", all)
	}
	if err := os.WriteFile(path, []byte("not a token"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Acquire(context.Background(), request); err == nil || strings.Contains(err.Error(), "not a token\n") {
		t.Errorf("got %v", err)
	}
}

func TestNoTokenFollowsARedirect(t *testing.T) {
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	client, err := New(server.URL, WithTokenSource(StaticToken("secret")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Acquire(context.Background(), request); ExitCode(err) != 69 || elsewhere.Load() != 0 {
		t.Errorf("got %v, %d calls elsewhere", err, elsewhere.Load())
	}
}

func TestNew(t *testing.T) {
	for _, address := range []string{"", "localhost:8080", "ftp://x", "http://", "http://me:secret@x"} {
		if _, err := New(address); err == nil || strings.Contains(err.Error(), "me:secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "1d2h0.5s": 26*time.Hour + 500*time.Millisecond,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "90", "d", "xd"} {
		if _, err := ParseDuration(text); err == nil {
			t.Errorf("%q is no duration", text)
		}
	}
}

func TestExitCode(t *testing.T) {
	for code, err := range map[int]error{
		0:  nil,
		1:  errors.New("other"),
		64: &Problem{Code: "invalid_request", Status: 400},
		66: fmt.Errorf("wrapped: %w", &Problem{Code: "pool_not_found", Status: 404}),
		69: &UnreachableError{},
		75: &NotGrantedError{},
		76: errors.Join(&LostError{}, &Problem{Status: 404}),
		77: &Problem{Code: "never_fits", Status: 422},
	} {
		if got := ExitCode(err); got != code {
			t.Errorf("%v: %d, not %d", err, got, code)
		}
	}
}

func TestAccessIsReadAgainInTime(t *testing.T) {
	for left, want := range map[time.Duration]time.Duration{
		time.Minute:     40 * time.Second,
		time.Hour:       3 * time.Minute,
		-time.Hour:      2 * time.Second,
		24 * time.Hour:  3 * time.Minute, // The clock of this machine may be behind.
		3 * time.Second: 2 * time.Second,
	} {
		if got := renewIn(left); got != want {
			t.Errorf("access that ends in %s is read again after %s, want %s", left, got, want)
		}
	}
}
