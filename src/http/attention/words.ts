/** Every kind of trouble: how severe it is, and what it is called. The order is the one of the answer. */

export type Severity = "error" | "warning" | "notice";

interface Words {
  readonly severity: Severity;
  readonly summary: (count: number) => string;
  readonly advice: string;
  readonly command?: string;
}

/** `1 pool is …`, `2 pools are …`. */
const countOf = (count: number, one: string, many: string) =>
  count === 1 ? `1 ${one}` : `${count} ${many}`;

export const troubleWords = {
  journal_not_writable: {
    severity: "error",
    summary: () => "The journal cannot be written: nothing is lent or released",
    advice: "Fix the disk or the database. The server goes on by itself",
  },
  no_leader: {
    severity: "error",
    summary: () => "No server leads: nothing is lent or released",
    advice: "Look whether the servers reach the database. One of them leads as soon as it can",
  },
  config_refused: {
    severity: "error",
    summary: () => "The configuration file is refused; the one before it stays in force",
    advice: "Fix the file. It is read again when it changes",
    command: "berth config check FILE",
  },
  pool_suspended: {
    severity: "error",
    summary: (count) => countOf(count, "pool is suspended", "pools are suspended"),
    advice: "Reload the configuration to try again, and report this as a bug",
    command: "berth pools",
  },
  admission_check_fails: {
    severity: "error",
    summary: (count) =>
      countOf(
        count,
        "pool lends nothing: its check fails",
        "pools lend nothing: their checks fail",
      ),
    advice: "Look whether the server reaches the cluster, and whether its account may read it",
    command: "berth pools -o wide",
  },
  nothing_to_lend: {
    severity: "error",
    summary: (count) =>
      countOf(count, "pool has nothing left to lend", "pools have nothing left to lend"),
    advice:
      "Look whether the cleaner runs, and who has released the resources into their states. Then free them",
    command: "berth resources",
  },
  cluster_destroy_stuck: {
    severity: "error",
    summary: (count) =>
      countOf(
        count,
        "cluster cannot be destroyed and still costs money",
        "clusters cannot be destroyed and still cost money",
      ),
    advice: "Remove what blocks it. As a last resort, abandon it",
    command: "berth clusters",
  },
  hub_unreachable: {
    severity: "error",
    summary: (count) => countOf(count, "hub cannot be reached", "hubs cannot be reached"),
    advice:
      "Look at its address and kubeconfig. If it stays away, drain it: its clusters are made elsewhere",
    command: "berth hubs",
  },
  template_unusable: {
    severity: "error",
    summary: (count) =>
      countOf(
        count,
        "template cannot be used: something that it needs is missing",
        "templates cannot be used: something that they need is missing",
      ),
    advice: "Put it where the provisioner that names it finds it. It is looked for again",
    command: "berth config check FILE",
  },
  objects_not_served: {
    severity: "error",
    summary: (count) =>
      countOf(
        count,
        "API server of caas: cannot be served",
        "API servers of caas: cannot be served",
      ),
    advice:
      "Look at its address, kubeconfig and rights. Leases of its objects go on, new ones are not seen",
  },
  objects_of_another: {
    severity: "error",
    summary: (count) =>
      countOf(
        count,
        "API server of caas: has the name that another installation of Berth uses there",
        "API servers of caas: have names that other installations of Berth use there",
      ),
    advice:
      "Give it another name in one of the two configurations. Nothing of the other is touched",
  },
  cluster_fails: {
    severity: "warning",
    summary: (count) => countOf(count, "cluster keeps failing", "clusters keep failing"),
    advice: "Read the logs of the driver, and fix the template or its credentials",
    command: "berth clusters logs NAME",
  },
  cluster_orphaned: {
    severity: "warning",
    summary: (count) =>
      countOf(
        count,
        "cluster belongs to no pool and may cost money",
        "clusters belong to no pool and may cost money",
      ),
    advice: "Destroy it with the tools of its cloud, or adopt it",
    command: "berth clusters orphans",
  },
  waits_long: {
    severity: "warning",
    summary: (count) =>
      `${countOf(count, "pool has", "pools have")} a request that waits longer than usual`,
    advice:
      "Look what the oldest request waits for: another pool, a rate that is too low, or a pool that is too small",
    command: "berth queue",
  },
  quota_reached_long: {
    severity: "warning",
    summary: (count) =>
      countOf(count, "space waits for its own quota", "spaces wait for their own quotas"),
    advice: "Raise the quota, or release what the space no longer needs",
    command: "berth spaces",
  },
  quarantined: {
    severity: "warning",
    summary: (count) => countOf(count, "resource is quarantined", "resources are quarantined"),
    advice: "Read the output of the cleaner, fix the cause, then free the resource",
    command: "berth resources --state quarantined",
  },
  not_cleaned: {
    severity: "warning",
    summary: (count) =>
      countOf(
        count,
        "pool has resources that nobody cleans",
        "pools have resources that nobody cleans",
      ),
    advice: "Look whether the cleaner runs, and whether the state is spelled right",
    command: "berth resources",
  },
  rate_at_minimum: {
    severity: "warning",
    summary: (count) =>
      countOf(
        count,
        "pool is throttled to the lowest rate",
        "pools are throttled to the lowest rate",
      ),
    advice: "The provider throttles the holders. Ask for more quota, or pin a rate",
    command: "berth pools -o wide",
  },
  replica_behind: {
    severity: "warning",
    summary: (count) => countOf(count, "server does not follow", "servers do not follow"),
    advice: "Look whether it runs and reaches the database; its log has the cause",
  },
  mirror_fails: {
    severity: "warning",
    summary: () => "The mirror cannot write to Kubernetes; lending goes on",
    advice: "Look whether the server reaches the cluster, and whether its account may write",
  },
  history_behind: {
    severity: "warning",
    summary: () => "History is behind: charts and estimates are old",
    advice: "It catches up by itself. If it does not, the log has the cause",
  },
  token_expires: {
    severity: "notice",
    summary: (count) =>
      `${countOf(count, "token has expired or expires", "tokens have expired or expire")} within two weeks`,
    advice: "Make a new one, and add its line to the configuration before the old one ends",
    command: "berth token new",
  },
  config_warning: {
    severity: "notice",
    summary: (count) =>
      `${countOf(count, "warning", "warnings")} of the server and its configuration`,
    advice: "Change the file as the warning says",
    command: "berth config check FILE",
  },
} as const satisfies Readonly<Record<string, Words>>;

export type AttentionCode = keyof typeof troubleWords;

export function wordsOf(code: AttentionCode): Words {
  return troubleWords[code];
}
