import type { CliCommand } from "./cli-command.ts";

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly group: "For jobs" | "Inspect" | "For operators" | "Other";
  /** Loads the command's module on demand, so that `berth run` starts without the server's code. */
  readonly load: () => Promise<CliCommand>;
}

export const commands: readonly CommandEntry[] = [
  {
    name: "run",
    summary: "Run a command while holding a lease; release it when the command exits",
    group: "For jobs",
    load: async () => (await import("./run/run.ts")).run,
  },
  {
    name: "acquire",
    summary: "Wait for a lease and print it; you send the heartbeats",
    group: "For jobs",
    load: async () => (await import("./run/acquire.ts")).acquire,
  },
  {
    name: "heartbeat",
    summary: "Send a heartbeat for a lease, once or at an interval",
    group: "For jobs",
    load: async () => (await import("./run/heartbeat.ts")).heartbeat,
  },
  {
    name: "release",
    summary: "Release a lease, so that the next request can start",
    group: "For jobs",
    load: async () => (await import("./run/release.ts")).release,
  },
  {
    name: "access",
    summary: "Print the kubeconfig of a cluster that you hold",
    group: "For jobs",
    load: async () => (await import("./clusters/access.ts")).access,
  },
  {
    name: "credentials",
    summary: "Store credentials for clusters of your space",
    group: "For jobs",
    load: async () => (await import("./clusters/credentials.ts")).credentials,
  },
  {
    name: "shell-client",
    summary: "Print shell functions for leases through berth run --proxy",
    group: "For jobs",
    load: async () => (await import("./run/shell-client.ts")).shellClient,
  },
  {
    name: "refresh",
    summary: "Release a lease and request the same again, before a retry",
    group: "For jobs",
    load: async () => (await import("./run/refresh.ts")).refresh,
  },
  {
    name: "signal",
    summary: "Report that the provider throttled you, or that it did not",
    group: "For jobs",
    load: async () => (await import("./run/signal.ts")).signal,
  },
  {
    name: "status",
    summary: "Show the usage and the queue of every pool",
    group: "Inspect",
    load: async () => (await import("./show/status.ts")).status,
  },
  {
    name: "pools",
    summary: "List pools with their free resources and waiting requests",
    group: "Inspect",
    load: async () => (await import("./show/pools.ts")).pools,
  },
  {
    name: "show-pools",
    summary: "Show how much of each shared resource is in use",
    group: "Inspect",
    load: async () => (await import("./show/show-pools.ts")).showPools,
  },
  {
    name: "leases",
    summary: "List leases with holders, resources and expiry",
    group: "Inspect",
    load: async () => (await import("./show/leases.ts")).leases,
  },
  {
    name: "queue",
    summary: "List waiting requests",
    group: "Inspect",
    load: async () => (await import("./show/queue.ts")).queue,
  },
  {
    name: "resources",
    summary: "List resources with their states and holders",
    group: "Inspect",
    load: async () => (await import("./show/resources.ts")).resources,
  },
  {
    name: "clusters",
    summary: "List clusters with their phases; hold, destroy or adopt one",
    group: "Inspect",
    load: async () => (await import("./clusters/clusters.ts")).clusters,
  },
  {
    name: "hubs",
    summary: "List hubs of clusters; cordon or drain one",
    group: "Inspect",
    load: async () => (await import("./clusters/hubs.ts")).hubs,
  },
  {
    name: "templates",
    summary: "List templates of clusters and their parameters",
    group: "Inspect",
    load: async () => (await import("./clusters/templates.ts")).templates,
  },
  {
    name: "spaces",
    summary: "List spaces with their shares and quotas",
    group: "Inspect",
    load: async () => (await import("./show/spaces.ts")).spaces,
  },
  {
    name: "explain",
    summary: "Explain why a request waits",
    group: "Inspect",
    load: async () => (await import("./show/explain.ts")).explain,
  },
  {
    name: "events",
    summary: "Stream events",
    group: "Inspect",
    load: async () => (await import("./show/events.ts")).events,
  },
  {
    name: "history",
    summary: "List past leases with their wait and hold times",
    group: "Inspect",
    load: async () => (await import("./show/history.ts")).history,
  },
  {
    name: "audit",
    summary: "List who changed what, verify that nobody changed the record",
    group: "For operators",
    load: async () => (await import("./operate/audit.ts")).audit,
  },
  {
    name: "stats",
    summary: "Show wait times, hold times, throughput and utilisation over time",
    group: "Inspect",
    load: async () => (await import("./show/stats.ts")).stats,
  },
  {
    name: "costs",
    summary: "Show what clusters cost, by space, template and pool",
    group: "Inspect",
    load: async () => (await import("./clusters/costs.ts")).costs,
  },
  {
    name: "slots",
    summary: "Lend slots on Kubernetes Leases, without a server",
    group: "For jobs",
    load: async () => (await import("./slots/slots.ts")).slots,
  },
  {
    name: "drain",
    summary: "Stop lending resources; current leases stay",
    group: "For operators",
    load: async () => (await import("./operate/drain.ts")).drain,
  },
  {
    name: "undrain",
    summary: "Lend drained resources again",
    group: "For operators",
    load: async () => (await import("./operate/undrain.ts")).undrain,
  },
  {
    name: "free",
    summary: "Set resources to free, such as quarantined ones",
    group: "For operators",
    load: async () => (await import("./operate/free.ts")).free,
  },
  {
    name: "bump",
    summary: "Change the priority of a waiting request",
    group: "For operators",
    load: async () => (await import("./operate/bump.ts")).bump,
  },
  {
    name: "pin",
    summary: "Fix a pool's start rate; ignore reports of throttling",
    group: "For operators",
    load: async () => (await import("./operate/pin.ts")).pin,
  },
  {
    name: "unpin",
    summary: "Let a pool's start rate adapt again",
    group: "For operators",
    load: async () => (await import("./operate/pin.ts")).unpin,
  },
  {
    name: "janitor",
    summary: "Clean dirty resources with your own command",
    group: "For operators",
    load: async () => (await import("./operate/janitor.ts")).janitor,
  },
  {
    name: "provisioner",
    summary: "Make and destroy clusters, outside of the server",
    group: "For operators",
    load: async () => (await import("./operate/provisioner.ts")).provisioner,
  },
  {
    name: "simulate",
    summary: "Replay recorded demand against other pool settings",
    group: "For operators",
    load: async () => (await import("./what-if/simulate.ts")).simulate,
  },
  {
    name: "serve",
    summary: "Start the server",
    group: "For operators",
    load: async () => (await import("./setup/serve.ts")).serve,
  },
  {
    name: "config",
    summary: "Check a configuration file, or print its JSON Schema",
    group: "For operators",
    load: async () => (await import("./setup/config.ts")).config,
  },
  {
    name: "token",
    summary: "Make a token for a caller of the server",
    group: "For operators",
    load: async () => (await import("./identity/token.ts")).token,
  },
  {
    name: "backup",
    summary: "Save the journal in a file, also while a server uses it",
    group: "For operators",
    load: async () => (await import("./operate/journal-copies.ts")).backup,
  },
  {
    name: "restore",
    summary: "Make a journal from a backup",
    group: "For operators",
    load: async () => (await import("./operate/journal-copies.ts")).restore,
  },
  {
    name: "journal",
    summary: "Verify the journal, or move it to PostgreSQL",
    group: "For operators",
    load: async () => (await import("./operate/journal.ts")).journal,
  },
  {
    name: "vault",
    summary: "Seal the secrets of clusters with a new key",
    group: "For operators",
    load: async () => (await import("./operate/vault.ts")).vault,
  },
  {
    name: "import",
    summary: "Import leases or configuration from another broker",
    group: "For operators",
    load: async () => (await import("./setup/import.ts")).importCommand,
  },
  {
    name: "export",
    summary: "Export leases in another broker's format",
    group: "For operators",
    load: async () => (await import("./setup/export.ts")).exportCommand,
  },
  {
    name: "login",
    summary: "Sign in through the issuer of the server",
    group: "Other",
    load: async () => (await import("./identity/login.ts")).login,
  },
  {
    name: "logout",
    summary: "Remove the tokens of berth login",
    group: "Other",
    load: async () => (await import("./identity/logout.ts")).logout,
  },
  {
    name: "whoami",
    summary: "Show who the server takes you for",
    group: "Other",
    load: async () => (await import("./identity/whoami.ts")).whoami,
  },
  {
    name: "completion",
    summary: "Print a completion script for bash, zsh or fish",
    group: "Other",
    load: async () => (await import("./completion.ts")).completion,
  },
  {
    name: "version",
    summary: "Print the version",
    group: "Other",
    load: async () => (await import("./version.ts")).version,
  },
];
