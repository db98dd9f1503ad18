package berth

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Access that cannot be read is tried again after this time, and none is renewed more often.
const renewMin = 2 * time.Second

// Access that ends lasts for ten minutes at least. So it is read in time also if the clock of this machine is hours behind.
const renewMax = 3 * time.Minute

// Access reads what is needed to use a cluster of the lease. It waits while the access is being made.
func (c *Client) Access(ctx context.Context, lease *Lease, claim Claim) (*Access, error) {
	var access Access
	err := c.retry(ctx, time.Minute, func() error {
		path := []string{"v1", "leases", lease.ID, "claims", claim.ID, "access"}
		_, err := c.send(ctx, call{method: http.MethodGet, path: path, token: lease.token}, &access)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &access, nil
}

// WriteKubeconfig writes the kubeconfig of a cluster of the lease to a file that only this user can read. If the
// access expires, the file is replaced in time, until the lease is released or lost. The caller removes the file.
func (c *Client) WriteKubeconfig(ctx context.Context, lease *Lease, claim Claim, path string) error {
	access, err := c.Access(ctx, lease, claim)
	if err != nil {
		return err
	}
	if err := replaceFile(path, access.Kubeconfig); err != nil {
		return err
	}
	if access.ExpiresAt != nil {
		go lease.renew(claim, path, *access.ExpiresAt)
	}
	return nil
}

// renew replaces the file when two thirds of the time are over.
func (l *Lease) renew(claim Claim, path string, expires time.Time) {
	ctx, cancel := l.Context(context.Background())
	defer cancel()
	for {
		select {
		case <-l.done: // Released, or it has ended.
			return
		case <-ctx.Done():
			return
		case <-time.After(renewIn(time.Until(expires))):
		}
		access, err := l.client.Access(ctx, l, claim)
		if err != nil || replaceFile(path, access.Kubeconfig) != nil {
			continue // While the access works, there is time to try again.
		}
		if access.ExpiresAt == nil {
			return
		}
		expires = *access.ExpiresAt
	}
}

// renewIn tells after how long access is read again that ends after this time, by the clock of this machine.
func renewIn(left time.Duration) time.Duration {
	return min(max(renewMin, left*2/3), renewMax)
}

// replaceFile never leaves half of a file to those who read it.
func replaceFile(path, text string) error {
	draft, err := os.CreateTemp(filepath.Dir(path), ".berth-*") // With the mode 0600.
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	if _, err := draft.WriteString(text); err != nil {
		draft.Close()
		return err
	}
	if err := draft.Close(); err != nil {
		return err
	}
	return os.Rename(draft.Name(), path)
}
