// Command boskos-client drives Boskos's own Go client. It reads one call per line of its input, as JSON,
// and writes one reply per line: what the client returned, or its error, and how long the call took.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/boskos/client"
	"sigs.k8s.io/boskos/common"
)

// Durations are Go's, as text.
type call struct {
	Call     string            `json:"call"`
	Type     string            `json:"type"`
	State    string            `json:"state"`
	Dest     string            `json:"dest"`
	Name     string            `json:"name"`
	Names    []string          `json:"names"`
	Deadline string            `json:"deadline"`
	Expire   string            `json:"expire"`
	UserData map[string]string `json:"userData"`
}

type reply struct {
	Result any    `json:"result"`
	Error  string `json:"error,omitempty"`
	Millis int64  `json:"millis"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: boskos-client URL OWNER")
		os.Exit(2)
	}
	boskos, err := client.NewClient(os.Args[2], os.Args[1], "", "")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	boskos.DistinguishNotFoundVsTypeNotFound = true
	lines := bufio.NewScanner(os.Stdin)
	replies := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var c call
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		start := time.Now()
		result, err := run(boskos, c)
		r := reply{Result: result, Millis: time.Since(start).Milliseconds()}
		if err != nil {
			r.Error = err.Error()
		}
		if err := replies.Encode(r); err != nil {
			os.Exit(1)
		}
	}
}

func run(boskos *client.Client, c call) (any, error) {
	switch c.Call {
	case "acquire":
		return boskos.Acquire(c.Type, c.State, c.Dest)
	case "acquireWait":
		ctx, cancel, err := within(c.Deadline)
		if err != nil {
			return nil, err
		}
		defer cancel()
		return boskos.AcquireWait(ctx, c.Type, c.State, c.Dest)
	case "acquireByState":
		return boskos.AcquireByState(c.State, c.Dest, c.Names)
	case "update":
		return nil, boskos.UpdateOne(c.Name, c.State, common.UserDataFromMap(c.UserData))
	case "updateAll":
		return nil, boskos.UpdateAll(c.State)
	case "syncAll":
		return nil, boskos.SyncAll()
	case "release":
		return nil, boskos.ReleaseOne(c.Name, c.Dest)
	case "releaseAll":
		return nil, boskos.ReleaseAll(c.Dest)
	case "reset":
		expire, err := time.ParseDuration(c.Expire)
		if err != nil {
			return nil, err
		}
		return boskos.Reset(c.Type, c.State, expire, c.Dest)
	case "metric":
		return boskos.Metric(c.Type)
	case "holds":
		return boskos.HasResource(), nil
	default:
		return nil, fmt.Errorf("unknown call %q", c.Call)
	}
}

func within(deadline string) (context.Context, context.CancelFunc, error) {
	limit, err := time.ParseDuration(deadline)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	return ctx, cancel, nil
}
