package berth

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// Lease is a granted request whose heartbeats are sent in the background until Release.
type Lease struct {
	ID     string
	Holder string
	TTL    time.Duration
	// EndsAt is when the lease ends at the latest; nil: never.
	EndsAt    *time.Time
	GrantedAt time.Time
	Claims    []Claim

	client *Client
	token  string
	margin time.Duration
	stop   context.CancelFunc
	done   chan struct{}
	lost   chan struct{}

	mu sync.Mutex
	// alive is when the last heartbeat that was answered was sent. The server counts the ttl from its arrival,
	// so our deadline is never after the server's.
	alive    time.Time
	ends     time.Time // Zero: never.
	deadline *time.Timer
	err      *LostError
	noticed  bool

	once     sync.Once
	released error
}

// Token proves that its owner holds the lease, for programs that send heartbeats or release it elsewhere. It is a
// secret.
func (l *Lease) Token() string { return l.token }

// Resources returns the names of the resources of one pool.
func (l *Lease) Resources(pool string) []string {
	var names []string
	for _, claim := range l.Claims {
		if claim.Pool == pool {
			names = append(names, claim.Resource)
		}
	}
	return names
}

// Lost is closed when the lease is lost. Then Err says why, and the holder must stop.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Err returns a [*LostError] when the lease is lost, and nil before.
func (l *Lease) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		return nil
	}
	return l.err
}

// Context returns a context that is cancelled when the lease is lost, with the [*LostError] as its cause
// ([context.Cause]).
func (l *Lease) Context(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		select {
		case <-l.lost:
			cancel(l.Err())
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// Release stops the heartbeats and gives the lease back. It retries for half a minute; if it fails, the lease
// expires after its ttl. It returns a [*LostError] if the lease had ended before. Calling it again returns the
// same.
func (l *Lease) Release(ctx context.Context) error {
	l.once.Do(func() {
		l.stop()
		<-l.done
		l.mu.Lock()
		l.deadline.Stop()
		lost := l.err
		l.mu.Unlock()
		limit := releaseLimit
		if lost != nil && lost.Cause == Ended {
			limit = 0 // A revoked lease keeps its resources until its holder has stopped: this says so.
		}
		err := l.client.release(ctx, l.ID, l.token, limit)
		switch {
		case lost != nil:
			l.released = lost
		case hasEnded(err):
			l.released = &LostError{LeaseID: l.ID, Cause: Ended, Err: err}
		default:
			l.released = err
		}
	})
	return l.released
}

func (c *Client) release(ctx context.Context, id, token string, limit time.Duration) error {
	return c.retry(ctx, limit, func() error {
		one := call{method: http.MethodDelete, path: []string{"v1", "leases", id}, token: token}
		_, err := c.send(ctx, one, nil)
		return err
	})
}

// keep starts the heartbeats and waits for the first one that is answered: the reply with the grant may have
// taken longer than the ttl.
func (c *Client) keep(ctx context.Context, found *granted) (*Lease, error) {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	lease := &Lease{
		ID: found.ID, Holder: found.Holder, TTL: time.Duration(found.TTL), EndsAt: found.EndsAt,
		GrantedAt: found.GrantedAt, Claims: found.Claims,
		client: c, token: found.Token, stop: stop,
		done: make(chan struct{}), lost: make(chan struct{}), alive: time.Now(),
	}
	if lease.TTL <= 0 {
		stop()
		return nil, errors.New("berth: Cannot keep the lease: it has no ttl")
	}
	longest := lease.TTL
	if found.EndsAt != nil {
		lifetime := found.EndsAt.Sub(found.GrantedAt)
		lease.ends = lease.alive.Add(lifetime)
		longest = min(longest, lifetime)
	}
	// At most a third, so that there is time to retry a failed heartbeat.
	lease.margin = min(max(min(lease.TTL/10, marginMax), c.margin), longest/3)
	lease.deadline = time.AfterFunc(time.Hour, lease.due)
	lease.watchDeadline()
	confirmed := make(chan struct{})
	go lease.beat(background, confirmed)
	select {
	case <-confirmed:
		return lease, nil
	case <-lease.lost:
		_ = lease.Release(context.WithoutCancel(ctx))
		return nil, lease.Err()
	case <-ctx.Done():
		_ = lease.Release(context.WithoutCancel(ctx))
		return nil, context.Cause(ctx)
	}
}

// beat sends heartbeats until it is stopped. It goes on after lost contact: a late heartbeat still protects the
// holder's cleanup.
func (l *Lease) beat(ctx context.Context, confirmed chan struct{}) {
	defer close(l.done)
	every := l.TTL / beatsPerTTL
	answer := min(max(every, time.Second), answerLimit)
	isConfirmed := false
	for failures := 0; ctx.Err() == nil; {
		sent := time.Now()
		reply, err := l.heartbeat(ctx, answer)
		switch {
		case ctx.Err() != nil:
			return
		// A server that cannot write its journal cannot expire leases either.
		case err == nil, hasCode(err, "journal_unavailable"):
			failures = 0
			l.succeeded(sent, reply)
			if !isConfirmed {
				isConfirmed = true
				close(confirmed)
			}
			l.pauseUntilLost(ctx, every)
		// A wrong token: another client has this id now, or the server has a new secret.
		case hasEnded(err), hasCode(err, "token_wrong", "token_missing"):
			l.lose(Ended, err)
			return
		default:
			if failures == 0 {
				l.client.log.Warn("berth: a heartbeat failed; retrying", "lease", l.ID, "error", err)
			}
			failures++
			_ = pause(ctx, min(backoff(failures), l.TTL/retriesPerTTL))
		}
	}
}

func (l *Lease) heartbeat(ctx context.Context, answer time.Duration) (*heartbeat, error) {
	var reply heartbeat
	one := call{method: http.MethodPost, path: []string{"v1", "leases", l.ID, "heartbeat"}, token: l.token, answer: answer}
	if _, err := l.client.send(ctx, one, &reply); err != nil {
		return nil, err
	}
	return &reply, nil
}

func (l *Lease) succeeded(sent time.Time, reply *heartbeat) {
	l.mu.Lock()
	l.alive = sent
	var notice *Notice
	if reply != nil {
		if reply.EndsAt != nil {
			// The server's clock at that moment was ExpiresAt minus the ttl.
			ends := sent.Add(reply.EndsAt.Sub(reply.ExpiresAt) + l.TTL)
			if l.ends.IsZero() || ends.Before(l.ends) {
				l.ends = ends
			}
		}
		if reply.Notice != nil && !l.noticed {
			l.noticed = true
			notice = reply.Notice
		}
	}
	l.mu.Unlock()
	l.watchDeadline()
	if notice != nil {
		l.client.onNotice(l, *notice)
	}
}

// pauseUntilLost ends early when the server reports that the lease is lost. The next heartbeat finds out why.
func (l *Lease) pauseUntilLost(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	changed := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		var found granted
		one := call{method: http.MethodGet, path: []string{"v1", "leases", l.ID}, wait: d, token: l.token}
		_, err := l.client.send(ctx, one, &found)
		l.mu.Lock()
		noticed := l.noticed
		l.mu.Unlock()
		if hasEnded(err) || (err == nil && (found.RevokedAt != nil || (found.Notice != nil && !noticed))) {
			close(changed)
		}
	}()
	select {
	case <-ctx.Done():
	case <-changed:
	}
	cancel()
	<-watched
}

// dueAt returns when the holder must begin to stop, and why.
func (l *Lease) dueAt() (time.Time, Cause) {
	due, cause := l.alive.Add(l.TTL), NoContact
	if !l.ends.IsZero() && l.ends.Before(due) {
		due, cause = l.ends, Lifetime
	}
	return due.Add(-l.margin), cause
}

func (l *Lease) watchDeadline() {
	l.mu.Lock()
	defer l.mu.Unlock()
	due, _ := l.dueAt()
	l.deadline.Reset(max(0, time.Until(due)))
}

func (l *Lease) due() {
	l.mu.Lock()
	due, cause := l.dueAt()
	l.mu.Unlock()
	if time.Until(due) > 0 {
		l.watchDeadline()
		return
	}
	l.lose(cause, nil)
}

func (l *Lease) lose(cause Cause, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deadline.Stop()
	if l.err != nil {
		return
	}
	l.err = &LostError{LeaseID: l.ID, Cause: cause, Err: err}
	close(l.lost)
}
