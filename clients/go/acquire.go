package berth

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// Do acquires a lease, runs work while heartbeats are sent, and releases the lease in any case. The context of
// work is cancelled with a [*LostError] as its cause if the lease is lost; work must then stop. Do returns the
// error of work, or a *LostError if the lease was lost while work ran: do not trust its result then.
func (c *Client) Do(ctx context.Context, request Request, work func(context.Context, *Lease) error) (err error) {
	lease, err := c.Acquire(ctx, request)
	if err != nil {
		return err
	}
	// Also after a panic, and after ctx is cancelled.
	defer func() {
		released := lease.Release(context.WithoutCancel(ctx))
		var lost *LostError
		if errors.As(released, &lost) {
			err = errors.Join(released, err)
		}
	}()
	held, cancel := lease.Context(ctx)
	defer cancel()
	return work(held, lease)
}

// Acquire waits until the whole request is granted, and starts heartbeats. It survives restarts of the server and
// lost replies. When ctx is done it leaves the queue; a deadline gives a [*NotGrantedError]. The caller must call
// [Lease.Release].
func (c *Client) Acquire(ctx context.Context, request Request) (*Lease, error) {
	return c.acquire(ctx, request, true)
}

// TryAcquire is like Acquire, but does not wait: it returns a [*NotGrantedError] if the request cannot be granted
// at once.
func (c *Client) TryAcquire(ctx context.Context, request Request) (*Lease, error) {
	return c.acquire(ctx, request, false)
}

func (c *Client) acquire(ctx context.Context, request Request, waits bool) (*Lease, error) {
	own := request.RequestID != ""
	for asks := 1; ; asks++ {
		if !own {
			request.RequestID = newRequestID()
		}
		queued := &queuedRequest{client: c, request: request, waits: waits}
		found, err := queued.untilGranted(ctx)
		if err == nil {
			return c.keep(ctx, found)
		}
		queued.leave(ctx)
		// The server ended the request while there was no contact. It can be sent again with a new id.
		var problem *Problem
		forgotten := errors.As(err, &problem) && problem.Code == "request_ended" &&
			(problem.How == "abandoned" || problem.How == "disconnected" || problem.How == "expired")
		if own || !forgotten || asks >= asksMax {
			return nil, err
		}
	}
}

func newRequestID() string {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		panic(err) // The system has no randomness; no program could go on.
	}
	return hex.EncodeToString(id[:])
}

// queuedRequest is a request from its first call until it is granted or has left the queue.
type queuedRequest struct {
	client  *Client
	request Request
	waits   bool

	id, token string
	last      *Waiting
	// mayBeKnown: a call was sent whose answer is missing.
	mayBeKnown bool
}

func (q *queuedRequest) untilGranted(ctx context.Context) (*granted, error) {
	for asks := 1; ; asks++ {
		found, err := q.ask(ctx)
		// A server without a journal loses the request in a restart. Sending the same id is safe.
		if err == nil || !hasCode(err, "request_not_found") || asks >= asksMax {
			return found, q.explained(ctx, err)
		}
	}
}

// explained makes a NotGrantedError of a deadline that was reached in the queue.
func (q *queuedRequest) explained(ctx context.Context, err error) error {
	if err != nil && q.last != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &NotGrantedError{Last: *q.last, Err: context.DeadlineExceeded}
	}
	return err
}

func (q *queuedRequest) ask(ctx context.Context) (*granted, error) {
	one := call{method: http.MethodPost, path: []string{"v1", "leases"}, body: q.request}
	status, text, err := q.send(ctx, one, q.client.connectTimeout)
	if err != nil {
		return nil, err
	}
	var found granted
	if err := json.Unmarshal(text, &found); err != nil || found.ID == "" || found.Token == "" {
		return nil, problemFrom(status, nil)
	}
	q.id, q.token, q.mayBeKnown = found.ID, found.Token, false
	for status == http.StatusAccepted {
		if status, text, err = q.poll(ctx, text); err != nil {
			return nil, err
		}
	}
	found = granted{}
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, problemFrom(status, nil)
	}
	found.Token = q.token // A poll does not tell it again.
	return &found, nil
}

// poll reports the state of the wait, and waits for the next one.
func (q *queuedRequest) poll(ctx context.Context, state []byte) (int, []byte, error) {
	var waiting Waiting
	if err := json.Unmarshal(state, &waiting); err != nil {
		return 0, nil, problemFrom(http.StatusAccepted, nil)
	}
	q.last = &waiting
	q.client.onWaiting(waiting)
	q.client.log.Info("berth: waiting", "position", waiting.Position, "reason", waiting.Reason.Message)
	if !q.waits {
		return 0, nil, &NotGrantedError{Last: waiting}
	}
	one := call{method: http.MethodGet, path: []string{"v1", "requests", q.id}, wait: pollTime, token: q.token}
	return q.send(ctx, one, max(outageLimit, q.client.connectTimeout))
}

func (q *queuedRequest) send(ctx context.Context, one call, limit time.Duration) (status int, text json.RawMessage, err error) {
	err = q.client.retry(ctx, limit, func() error {
		var failed error
		status, failed = q.client.send(ctx, one, &text)
		one.wait = 0 // After a failure poll without a wait, to report the recovery at once.
		var unreachable *UnreachableError
		if failed != nil && isTemporary(failed) && (!errors.As(failed, &unreachable) || unreachable.wasSent()) {
			q.mayBeKnown = true
		}
		return failed
	})
	return status, text, err
}

// leave leaves the queue, or releases what was granted meanwhile. If it fails, the server drops the request or
// the lease after its ttl.
func (q *queuedRequest) leave(ctx context.Context) {
	cancelled := ctx.Err() != nil
	if q.id == "" && !q.mayBeKnown && !cancelled {
		return
	}
	limit := leaveLimit
	if !cancelled {
		limit = max(leaveLimit, min(releaseLimit, q.client.connectTimeout))
	}
	after := context.WithoutCancel(ctx)
	err := q.client.retry(after, limit, func() error {
		if q.id == "" {
			// The response to the request is missing, so it may be queued. Send it again to learn its id.
			var found granted
			one := call{method: http.MethodPost, path: []string{"v1", "leases"}, body: q.request, answer: leaveLimit}
			if _, err := q.client.send(after, one, &found); err != nil {
				return err
			}
			q.id, q.token = found.ID, found.Token
		}
		one := call{method: http.MethodDelete, path: []string{"v1", "requests", q.id}, token: q.token, answer: leaveLimit}
		_, err := q.client.send(after, one, nil)
		return err
	})
	if hasCode(err, "request_granted") {
		_ = q.client.release(after, q.id, q.token, limit)
	}
}
