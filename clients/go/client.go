package berth

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// The limits are those of the other clients of Berth.
const (
	answerLimit    = 15 * time.Second
	pollTime       = 30 * time.Second
	outageLimit    = 5 * time.Minute
	releaseLimit   = 30 * time.Second
	leaveLimit     = 5 * time.Second
	connectLimit   = 30 * time.Second
	pauseMin       = 200 * time.Millisecond
	pauseMax       = 5 * time.Second
	marginMax      = 30 * time.Second
	asksMax        = 20
	replyBytesMax  = 16 << 20
	beatsPerTTL    = 3
	retriesPerTTL  = 12
	userAgent      = "berth-go"
	environmentURL = "BERTH_URL"
)

// Client calls one server. It is safe for concurrent use.
type Client struct {
	url            string
	http           *http.Client
	token          TokenSource
	log            *slog.Logger
	connectTimeout time.Duration
	margin         time.Duration
	onWaiting      func(Waiting)
	onNotice       func(*Lease, Notice)
}

// Option changes a client.
type Option func(*Client)

// WithTokenSource sets where the caller's own token comes from, for a server with authentication.
func WithTokenSource(source TokenSource) Option { return func(c *Client) { c.token = source } }

// WithHTTPClient sets the HTTP client, for proxies, certificates and authorities of your own. Its Timeout must be
// 0, because calls wait for as long as a request waits.
func WithHTTPClient(client *http.Client) Option { return func(c *Client) { c.http = client } }

// WithLogger logs retries, lost heartbeats and the wait in the queue. The default logs nothing.
func WithLogger(log *slog.Logger) Option { return func(c *Client) { c.log = log } }

// WithConnectTimeout sets how long to retry while the server has not answered once. The default is 30 seconds.
func WithConnectTimeout(limit time.Duration) Option {
	return func(c *Client) { c.connectTimeout = limit }
}

// WithMargin sets the time that the work needs to stop. The lease counts as lost this long before it can expire,
// but never more than a third of its ttl.
func WithMargin(margin time.Duration) Option { return func(c *Client) { c.margin = margin } }

// WithOnWaiting sets a function that gets the state of a waiting request after each poll.
func WithOnWaiting(f func(Waiting)) Option { return func(c *Client) { c.onWaiting = f } }

// WithOnNotice sets a function that is called once if the pool takes the lease back: release it by then.
func WithOnNotice(f func(*Lease, Notice)) Option { return func(c *Client) { c.onNotice = f } }

// New returns a client of the server at this address, such as "https://berth.example".
func New(address string, options ...Option) (*Client, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return nil, fmt.Errorf("berth: Cannot use %q as the server's address: it is not an http(s) URL", address)
	}
	if parsed.User != nil {
		return nil, errors.New("berth: Cannot use the server's address: it contains a user name or password")
	}
	client := &Client{
		url:            strings.TrimRight(parsed.Scheme+"://"+parsed.Host+parsed.Path, "/"),
		http:           newHTTPClient(nil),
		log:            slog.New(discard{}),
		connectTimeout: connectLimit,
		onWaiting:      func(Waiting) {},
		onNotice:       func(*Lease, Notice) {},
	}
	for _, option := range options {
		option(client)
	}
	return client, nil
}

// NewFromEnvironment returns a client with the settings of the command berth: BERTH_URL, the token of
// [EnvironmentToken], and the authority in the file BERTH_CA_FILE. Options count more.
func NewFromEnvironment(options ...Option) (*Client, error) {
	address := os.Getenv(environmentURL)
	if address == "" {
		return nil, errors.New("berth: Cannot find the server: BERTH_URL is not set")
	}
	own := []Option{WithTokenSource(EnvironmentToken())}
	if path := os.Getenv("BERTH_CA_FILE"); path != "" {
		pem, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("berth: Cannot read BERTH_CA_FILE: %w", err)
		}
		authorities := x509.NewCertPool()
		if !authorities.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("berth: Cannot use BERTH_CA_FILE %s: it has no certificate", path)
		}
		own = append(own, WithHTTPClient(newHTTPClient(authorities)))
	}
	return New(address, append(own, options...)...)
}

// newHTTPClient follows no redirect: it would send the token elsewhere.
func newHTTPClient(authorities *x509.CertPool) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if authorities != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type call struct {
	method string
	path   []string
	wait   time.Duration
	body   any
	// token of the lease; empty: the caller's own.
	token  string
	answer time.Duration
}

// send makes one call. It returns the status, with the reply in result, or an error.
func (c *Client) send(ctx context.Context, one call, result any) (int, error) {
	limit := one.answer
	if limit == 0 {
		limit = answerLimit + one.wait
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	request, err := c.request(within, one)
	if err != nil {
		return 0, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, c.unreachable(ctx, err, limit)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, replyBytesMax))
	if err != nil {
		return 0, c.unreachable(ctx, err, limit)
	}
	if response.StatusCode/100 != 2 {
		problem := problemFrom(response.StatusCode, body)
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
			problem.retryAfter = time.Duration(seconds) * time.Second
		}
		return response.StatusCode, problem
	}
	if result != nil && response.StatusCode != http.StatusNoContent && json.Unmarshal(body, result) != nil {
		return response.StatusCode, problemFrom(response.StatusCode, nil)
	}
	return response.StatusCode, nil
}

func (c *Client) request(ctx context.Context, one call) (*http.Request, error) {
	address, err := url.JoinPath(c.url, escaped(one.path)...)
	if err != nil {
		return nil, err
	}
	if one.wait > 0 {
		address += "?wait=" + formatWait(one.wait)
	}
	var body io.Reader
	if one.body != nil {
		text, err := json.Marshal(one.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, one.method, address, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json, application/problem+json")
	request.Header.Set("User-Agent", userAgent)
	if one.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	token := one.token
	if token == "" && c.token != nil {
		if token, err = c.token(ctx); err != nil {
			return nil, err
		}
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return request, nil
}

func escaped(path []string) []string {
	parts := make([]string, len(path))
	for i, part := range path {
		parts[i] = url.PathEscape(part)
	}
	return parts
}

// unreachable keeps the caller's own cancellation apart from a server that does not answer.
func (c *Client) unreachable(ctx context.Context, err error, limit time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err // Without the address, which the message has already.
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s", limit)
	}
	return &UnreachableError{URL: c.url, Err: err}
}

// retry repeats until success, a permanent error, or the time limit.
func (c *Client) retry(ctx context.Context, limit time.Duration, attempt func() error) error {
	start := time.Now()
	for failures := 0; ; failures++ {
		err := attempt()
		spent := time.Since(start)
		if err == nil || !isTemporary(err) || spent >= limit {
			return err
		}
		if failures == 0 {
			c.log.Warn("berth: retrying", "error", err)
		}
		if pause(ctx, min(max(backoff(failures), retryAfter(err)), limit-spent)) != nil {
			return context.Cause(ctx)
		}
	}
}

// backoff is the pause after so many failures in a row. Half of it is chance, so that the clients do not all
// reconnect at the same time after a restart.
func backoff(failures int) time.Duration {
	full := min(pauseMax, pauseMin<<min(failures, 16))
	return full/2 + rand.N(full/2)
}

func retryAfter(err error) time.Duration {
	var problem *Problem
	if !errors.As(err, &problem) {
		return 0
	}
	return min(problem.retryAfter, pauseMax)
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

type discard struct{}

func (discard) Enabled(context.Context, slog.Level) bool  { return false }
func (discard) Handle(context.Context, slog.Record) error { return nil }
func (d discard) WithAttrs([]slog.Attr) slog.Handler      { return d }
func (d discard) WithGroup(string) slog.Handler           { return d }
