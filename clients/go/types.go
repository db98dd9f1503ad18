package berth

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Request is what a holder asks for. All items are granted at one moment, or none.
type Request struct {
	Items []Item `json:"items"`
	// Holder is who asks, for people to read: a job, a build, a person. Required by the server.
	Holder string `json:"holder"`
	// RequestID makes retries safe: one id never gets two leases. Empty: a random one.
	RequestID string `json:"requestId"`
	// TTL is how long the lease lives without a heartbeat. 0: the pool's ttl.
	TTL Duration `json:"ttl,omitempty"`
	// Lifetime is how long the lease lives at most. 0: the pool's lifetime.
	Lifetime Duration `json:"lifetime,omitempty"`
	// Priority: higher goes first.
	Priority int               `json:"priority,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
}

// Item is a part of a request: of one pool, or of the first of several that can serve.
type Item struct {
	Pool  string   `json:"pool,omitempty"`
	AnyOf []string `json:"anyOf,omitempty"`
	// Count is 1 unless given.
	Count int `json:"count,omitempty"`
	// Amount is what it needs of a shared resource, such as {"vcpus": 24}.
	Amount map[string]int64 `json:"amount,omitempty"`
	// Selector selects resources by their labels.
	Selector map[string]string `json:"selector,omitempty"`
	// Resource selects one resource by its name.
	Resource string `json:"resource,omitempty"`
	// Parameters of a cluster, if the pool makes clusters.
	Parameters map[string]any `json:"parameters,omitempty"`
}

// Claim is one resource inside a lease.
type Claim struct {
	ID       string `json:"id"`
	Pool     string `json:"pool"`
	Resource string `json:"resource"`
	// Fence is larger than that of every earlier grant: a resource that checks it refuses late holders.
	Fence    int64             `json:"fence"`
	Labels   map[string]string `json:"labels"`
	UserData map[string]string `json:"userData"`
	// Cluster is true for a cluster; see [Client.Access].
	Cluster bool `json:"cluster"`
	// HeldUntil is when the server gives it back by itself; nil: with the lease.
	HeldUntil *time.Time `json:"heldUntil"`
}

// Waiting is the state of a request in the queue.
type Waiting struct {
	ID       string `json:"id"`
	Position int    `json:"position"`
	// ETASeconds is when it will probably be granted; nil while too little is known.
	ETASeconds    *float64 `json:"etaSeconds"`
	WaitedSeconds float64  `json:"waitedSeconds"`
	Reason        Reason   `json:"reason"`
}

// Reason says why a request waits.
type Reason struct {
	Code    string `json:"code"`
	Pool    string `json:"pool"`
	Message string `json:"message"`
}

// Notice says that the pool takes the lease back for another request.
type Notice struct {
	EndsBy time.Time `json:"endsBy"`
	Reason string    `json:"reason"`
}

// Access is what the holder of a cluster needs to use it.
type Access struct {
	Kubeconfig string  `json:"kubeconfig"`
	Username   *string `json:"username"`
	Password   *string `json:"password"`
	APIURL     *string `json:"apiUrl"`
	// ExpiresAt is when it must be read again; nil: it works until the release.
	ExpiresAt *time.Time `json:"expiresAt"`
}

type granted struct {
	ID        string     `json:"id"`
	Token     string     `json:"token"`
	Holder    string     `json:"holder"`
	TTL       Duration   `json:"ttl"`
	GrantedAt time.Time  `json:"grantedAt"`
	EndsAt    *time.Time `json:"endsAt"`
	RevokedAt *time.Time `json:"revokedAt"`
	Notice    *Notice    `json:"notice"`
	Claims    []Claim    `json:"claims"`
}

type heartbeat struct {
	ExpiresAt time.Time  `json:"expiresAt"`
	EndsAt    *time.Time `json:"endsAt"`
	Notice    *Notice    `json:"notice"`
}

// Duration is a time.Duration that travels as Berth writes durations: "90s", "1h30m", "2d".
type Duration time.Duration

// MarshalJSON writes milliseconds, which every duration of the API may have.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(formatWait(time.Duration(d)))
}

// UnmarshalJSON reads any form that the server writes; null is 0.
func (d *Duration) UnmarshalJSON(text []byte) error {
	var written *string
	if err := json.Unmarshal(text, &written); err != nil || written == nil {
		return err
	}
	parsed, err := ParseDuration(*written)
	*d = Duration(parsed)
	return err
}

// ParseDuration reads a duration as Berth writes it. Unlike [time.ParseDuration] it knows days.
func ParseDuration(text string) (time.Duration, error) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		return time.ParseDuration(text)
	}
	count, err := strconv.ParseFloat(days, 64)
	if err != nil {
		return 0, fmt.Errorf("berth: Cannot use %q as a duration: write it like 90s, 20m or 2d", text)
	}
	total := time.Duration(count * float64(24*time.Hour))
	if rest == "" {
		return total, nil
	}
	parsed, err := time.ParseDuration(rest)
	return total + parsed, err
}

func formatWait(d time.Duration) string {
	return strconv.FormatInt(max(d.Milliseconds(), 1), 10) + "ms"
}
