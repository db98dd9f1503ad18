// Command vectors runs one vector of clients/vectors with the Go client. Its only argument is the run as JSON: what to
// ask for, and what the work does. It prints `working RESOURCE...` when the work starts and `error CODE` at its end,
// and exits as `berth run` would.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	berth "github.com/berth/berth/clients/go"
)

type run struct {
	URL string `json:"url"`
	Ask struct {
		Pools          []string          `json:"pools"`
		Holder         string            `json:"holder"`
		Labels         map[string]string `json:"labels"`
		Amounts        map[string]int64  `json:"amounts"`
		Selector       map[string]string `json:"selector"`
		Priority       int               `json:"priority"`
		TTL            string            `json:"ttl"`
		Lifetime       string            `json:"lifetime"`
		RequestID      string            `json:"requestId"`
		Timeout        *string           `json:"timeout"`
		ConnectTimeout *string           `json:"connectTimeout"`
	} `json:"ask"`
	Work struct {
		Exit  int `json:"exit"`
		ForMS int `json:"forMs"`
	} `json:"work"`
	DoneFile string `json:"doneFile"`
}

// exitError is the failure of the work itself.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("the work ended with %d", int(e)) }

func main() {
	var one run
	if err := json.Unmarshal([]byte(os.Args[1]), &one); err != nil {
		panic(err)
	}
	stopped, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	err := one.do(stopped)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	var work exitError
	switch {
	case errors.As(err, &work) && berth.ExitCode(err) != 76:
		os.Exit(int(work))
	case stopped.Err() != nil:
		fmt.Println("error interrupted")
		os.Exit(143)
	}
	fmt.Println("error", codeOf(err))
	os.Exit(berth.ExitCode(err))
}

func (r *run) do(ctx context.Context) error {
	os.Setenv("BERTH_URL", r.URL)
	options := []berth.Option{}
	if limit := r.Ask.ConnectTimeout; limit != nil {
		options = append(options, berth.WithConnectTimeout(duration(*limit)))
	}
	client, err := berth.NewFromEnvironment(options...)
	if err != nil {
		return err
	}
	if limit := r.Ask.Timeout; limit != nil && *limit == "0" {
		lease, err := client.TryAcquire(ctx, r.request())
		if err != nil {
			return err
		}
		return lease.Release(ctx)
	} else if limit != nil {
		within, cancel := context.WithTimeout(ctx, duration(*limit))
		defer cancel()
		ctx = within
	}
	return client.Do(ctx, r.request(), r.work)
}

func (r *run) work(ctx context.Context, lease *berth.Lease) error {
	names := []string{}
	for _, claim := range lease.Claims {
		names = append(names, claim.Resource)
	}
	fmt.Println("working", strings.Join(names, " "))
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Duration(r.Work.ForMS) * time.Millisecond):
	}
	if err := os.WriteFile(r.DoneFile, nil, 0o600); err != nil {
		return err
	}
	if r.Work.Exit != 0 {
		return exitError(r.Work.Exit)
	}
	return nil
}

func (r *run) request() berth.Request {
	items := []berth.Item{}
	for _, text := range r.Ask.Pools {
		names, many, _ := strings.Cut(text, ":")
		count, _ := strconv.Atoi(many)
		item := berth.Item{Count: count, Amount: r.Ask.Amounts, Selector: r.Ask.Selector}
		if pools := strings.Split(names, ","); len(pools) > 1 {
			item.AnyOf = pools
		} else {
			item.Pool = names
		}
		items = append(items, item)
	}
	holder := r.Ask.Holder
	if holder == "" {
		holder = "vectors"
	}
	return berth.Request{
		Items: items, Holder: holder, RequestID: r.Ask.RequestID, Priority: r.Ask.Priority, Labels: r.Ask.Labels,
		TTL: berth.Duration(duration(r.Ask.TTL)), Lifetime: berth.Duration(duration(r.Ask.Lifetime)),
	}
}

func duration(text string) time.Duration {
	if text == "" {
		return 0
	}
	parsed, err := berth.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return parsed
}

// codeOf is the code of the error as the vectors have it.
func codeOf(err error) string {
	var problem *berth.Problem
	var unreachable *berth.UnreachableError
	var notGranted *berth.NotGrantedError
	var lost *berth.LostError
	switch {
	case err == nil:
		return "none"
	case errors.As(err, &lost):
		return "lease_lost"
	case errors.As(err, &notGranted):
		return "not_granted"
	case errors.As(err, &problem):
		return problem.Code
	case errors.As(err, &unreachable):
		return "unreachable"
	}
	return "bug"
}
