import type { CliCommand } from "./cli-command.ts";

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly group: "For jobs" | "To look" | "For operators" | "Other";
  /** Loaded when it is called, so that `berth run` starts without the server's code. */
  readonly load: () => Promise<CliCommand>;
}

export const commands: readonly CommandEntry[] = [
  {
    name: "run",
    summary: "Run a command while holding a lease; give back however it ends",
    group: "For jobs",
    load: async () => (await import("./run/run.ts")).run,
  },
  {
    name: "acquire",
    summary: "Wait for a lease and print it; heartbeats are up to you",
    group: "For jobs",
    load: async () => (await import("./run/acquire.ts")).acquire,
  },
  {
    name: "heartbeat",
    summary: "Keep a lease alive, once or at an interval",
    group: "For jobs",
    load: async () => (await import("./run/heartbeat.ts")).heartbeat,
  },
  {
    name: "release",
    summary: "Give a lease back, so that the next in line can start",
    group: "For jobs",
    load: async () => (await import("./run/release.ts")).release,
  },
  {
    name: "shell-client",
    summary: "Print the shell functions that lease through berth run --proxy",
    group: "For jobs",
    load: async () => (await import("./run/shell-client.ts")).shellClient,
  },
  {
    name: "refresh",
    summary: "Give back and ask for the same again, before a retry",
    group: "For jobs",
    load: async () => (await import("./run/refresh.ts")).refresh,
  },
  {
    name: "signal",
    summary: "Tell that the provider throttled you, or that all is well",
    group: "For jobs",
    load: async () => (await import("./run/signal.ts")).signal,
  },
  {
    name: "status",
    summary: "Show how full every pool is, and who waits",
    group: "To look",
    load: async () => (await import("./show/status.ts")).status,
  },
  {
    name: "pools",
    summary: "List pools, with what is free and who waits",
    group: "To look",
    load: async () => (await import("./show/pools.ts")).pools,
  },
  {
    name: "show-pools",
    summary: "Show how much of each resource is in use, where it is lent by amount",
    group: "To look",
    load: async () => (await import("./show/show-pools.ts")).showPools,
  },
  {
    name: "leases",
    summary: "List leases: who holds what, and until when",
    group: "To look",
    load: async () => (await import("./show/leases.ts")).leases,
  },
  {
    name: "queue",
    summary: "List who waits, and for what",
    group: "To look",
    load: async () => (await import("./show/queue.ts")).queue,
  },
  {
    name: "resources",
    summary: "List resources with their states and holders",
    group: "To look",
    load: async () => (await import("./show/resources.ts")).resources,
  },
  {
    name: "explain",
    summary: "Say in words why a request waits",
    group: "To look",
    load: async () => (await import("./show/explain.ts")).explain,
  },
  {
    name: "events",
    summary: "Follow what happens",
    group: "To look",
    load: async () => (await import("./show/events.ts")).events,
  },
  {
    name: "history",
    summary: "List past leases: who had what, how long they waited and held",
    group: "To look",
    load: async () => (await import("./show/history.ts")).history,
  },
  {
    name: "stats",
    summary: "Show waits, holds, throughput and utilisation over time",
    group: "To look",
    load: async () => (await import("./show/stats.ts")).stats,
  },
  {
    name: "slots",
    summary: "Lend slots on Kubernetes Leases, with no server at all",
    group: "For jobs",
    load: async () => (await import("./slots/slots.ts")).slots,
  },
  {
    name: "drain",
    summary: "Keep resources from being lent again; holders keep theirs",
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
    summary: "Bring back resources that were taken out, such as quarantined ones",
    group: "For operators",
    load: async () => (await import("./operate/free.ts")).free,
  },
  {
    name: "pin",
    summary: "Hold a pool's start rate, whatever is reported",
    group: "For operators",
    load: async () => (await import("./operate/pin.ts")).pin,
  },
  {
    name: "unpin",
    summary: "Let a pool's start rate find itself again",
    group: "For operators",
    load: async () => (await import("./operate/pin.ts")).unpin,
  },
  {
    name: "janitor",
    summary: "Clean dirty resources with a command of yours",
    group: "For operators",
    load: async () => (await import("./operate/janitor.ts")).janitor,
  },
  {
    name: "simulate",
    summary: "Replay recorded demand against other pools: what would have been",
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
    summary: "Check a configuration file, or print its schema for editors",
    group: "For operators",
    load: async () => (await import("./setup/config.ts")).config,
  },
  {
    name: "import",
    summary: "Carry over what another broker has lent, or make its files ours",
    group: "For operators",
    load: async () => (await import("./setup/import.ts")).importCommand,
  },
  {
    name: "export",
    summary: "Print what is lent in another broker's form",
    group: "For operators",
    load: async () => (await import("./setup/export.ts")).exportCommand,
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
