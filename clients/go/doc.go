// Package berth lends scarce test infrastructure to a Go program: cloud accounts, quota, clusters. It is a
// client of a Berth server and needs nothing but the standard library.
//
// [Client.Do] is what most programs need. It waits for the lease, sends heartbeats while the work runs, cancels
// the work's context if the lease is lost, and releases the lease:
//
//	client, err := berth.NewFromEnvironment() // BERTH_URL, BERTH_TOKEN or BERTH_TOKEN_FILE, BERTH_CA_FILE
//	if err != nil {
//		return err
//	}
//	request := berth.Request{Items: []berth.Item{{Pool: "aws-account"}}, Holder: "e2e/1234"}
//	return client.Do(ctx, request, func(ctx context.Context, lease *berth.Lease) error {
//		return runTests(ctx, lease.Resources("aws-account")[0])
//	})
//
// All calls are retried where that is safe: a request carries an id, so a repeated one gets the same lease.
// Errors are [*Problem] (the server refused; its Code is stable), [*UnreachableError], [*NotGrantedError] and
// [*LostError]. [ExitCode] gives the exit code that the command berth has for each of them.
package berth
