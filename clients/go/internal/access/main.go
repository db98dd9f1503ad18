// Command access leases a cluster with the Go client and runs a command with its kubeconfig: `access POOL COMMAND...`.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	berth "github.com/berth/berth/clients/go"
)

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(pool string, command []string) error {
	client, err := berth.NewFromEnvironment()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "berth-access-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	request := berth.Request{Items: []berth.Item{{Pool: pool}}, Holder: "go"}
	return client.Do(context.Background(), request, func(ctx context.Context, lease *berth.Lease) error {
		path := filepath.Join(folder, "kubeconfig")
		if err := client.WriteKubeconfig(ctx, lease, lease.Claims[0], path); err != nil {
			return err
		}
		work := exec.CommandContext(ctx, command[0], command[1:]...)
		work.Env = append(os.Environ(), "KUBECONFIG="+path)
		work.Stdout, work.Stderr = os.Stdout, os.Stderr
		return work.Run()
	})
}
