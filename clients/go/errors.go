package berth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Problem is a refusal of the server, as an RFC 9457 document.
type Problem struct {
	// Code is stable, such as "pool_not_found". The server's docs/errors.md lists all of them.
	Code   string `json:"code"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Hint says what to do now.
	Hint string `json:"hint"`
	// How says how a request or lease has ended, if that is the problem.
	How string `json:"how"`

	retryAfter time.Duration
}

func (p *Problem) Error() string { return fmt.Sprintf("berth: %s. %s", p.Detail, p.Hint) }

// UnreachableError says that the server did not answer: no connection, a connection that was cut, no answer in
// time.
type UnreachableError struct {
	URL string
	Err error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("berth: Cannot reach the server at %s: %v", e.URL, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// wasSent reports whether the server may have got the call.
func (e *UnreachableError) wasSent() bool {
	var operation *net.OpError
	return !errors.As(e.Err, &operation) || operation.Op != "dial"
}

// NotGrantedError says that the request was not granted before the context's deadline. It has left the queue.
type NotGrantedError struct {
	// Last is the last known state of the request.
	Last Waiting
	Err  error
}

func (e *NotGrantedError) Error() string {
	return fmt.Sprintf("berth: Cannot get the lease: not granted within the deadline (position %d). %s",
		e.Last.Position, e.Last.Reason.Message)
}

func (e *NotGrantedError) Unwrap() error { return e.Err }

// Cause says why a lease is lost.
type Cause string

const (
	// Ended: the server has ended the lease.
	Ended Cause = "ended"
	// NoContact: no heartbeat succeeded for nearly a ttl.
	NoContact Cause = "no-contact"
	// Lifetime: the lease reaches its maximum lifetime.
	Lifetime Cause = "lifetime"
)

// LostError says that the holder must stop using its resources now: another holder may get them soon.
type LostError struct {
	LeaseID string
	Cause   Cause
	Err     error
}

func (e *LostError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("berth: Cannot keep lease %s: %s", e.LeaseID, e.Cause)
	}
	return fmt.Sprintf("berth: Cannot keep lease %s: %s: %v", e.LeaseID, e.Cause, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// ExitCode returns the exit code that the command berth has for an error of this package: 64 wrong usage, 66 not
// found, 69 unreachable, 75 not granted in time, 76 lease lost, 77 refused. It is 0 for nil, and 1 for any
// other error.
func ExitCode(err error) int {
	var lost *LostError
	var notGranted *NotGrantedError
	var unreachable *UnreachableError
	var problem *Problem
	switch {
	case err == nil:
		return 0
	case errors.As(err, &lost):
		return 76
	case errors.As(err, &notGranted):
		return 75
	case errors.As(err, &problem):
		return problem.exitCode()
	case errors.As(err, &unreachable):
		return 69
	}
	return 1
}

func (p *Problem) exitCode() int {
	switch {
	case p.Code == "lease_ended":
		return 76
	case p.Code == "unexpected_reply" || p.Status >= 500 || p.Status == http.StatusTooManyRequests:
		return 69
	case p.Status == http.StatusNotFound || p.Status == http.StatusGone:
		return 66
	case p.Status == http.StatusBadRequest:
		return 64
	}
	return 77
}

// hasCode reports whether err is a problem with one of these codes. The status alone proves nothing: a plain
// 404 may come from a proxy while the server restarts, and must not stop a job whose lease is fine.
func hasCode(err error, codes ...string) bool {
	var problem *Problem
	if !errors.As(err, &problem) {
		return false
	}
	for _, code := range codes {
		if problem.Code == code {
			return true
		}
	}
	return false
}

func hasEnded(err error) bool {
	return hasCode(err, "lease_ended", "lease_not_found", "request_ended")
}

// isTemporary reports whether the same call may succeed later.
func isTemporary(err error) bool {
	var unreachable *UnreachableError
	if errors.As(err, &unreachable) {
		return !errors.Is(err, context.Canceled)
	}
	var problem *Problem
	if !errors.As(err, &problem) {
		return false
	}
	switch problem.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// problemFrom reads a reply. What is not a problem document becomes a problem that says what it was.
func problemFrom(status int, body []byte) *Problem {
	var found Problem
	if json.Unmarshal(body, &found) == nil && found.Code != "" && found.Detail != "" && found.Status != 0 {
		return &found
	}
	return &Problem{
		Code:   "unexpected_reply",
		Status: status,
		Detail: fmt.Sprintf("Cannot use the server's reply: status %d without a problem document", status),
		Hint:   "Check that the address is that of a Berth server and that no proxy answers instead",
	}
}
