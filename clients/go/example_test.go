package berth_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"time"

	berth "github.com/berth/berth/clients/go"
)

// A job that holds a cloud account while its tests run, and waits for it for half an hour at most.
func ExampleClient_Do() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	client, err := berth.NewFromEnvironment(berth.WithOnWaiting(func(w berth.Waiting) {
		fmt.Fprintf(os.Stderr, "position %d: %s\n", w.Position, w.Reason.Message)
	}))
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Minute)
	defer cancel()
	request := berth.Request{Items: []berth.Item{{Pool: "aws-account"}}, Holder: "e2e/1234"}
	err = client.Do(ctx, request, func(ctx context.Context, lease *berth.Lease) error {
		tests := exec.CommandContext(ctx, "./e2e.sh") // Stopped if the lease is lost.
		tests.Env = append(os.Environ(), "ACCOUNT="+lease.Resources("aws-account")[0])
		return tests.Run()
	})
	os.Exit(berth.ExitCode(err))
}
