import type {
  AccessBody,
  AdoptBody,
  CheckBody,
  CheckToDo,
  Cluster,
  ClusterAccess,
  ClusterLogs,
  ClusterPlan,
  Costs,
  Credentials,
  CredentialsBody,
  FoundBody,
  LentAccessBody,
  LogBody,
  LostBody,
  Orphan,
  OwnCredentials,
  ReportBody,
  Reported,
  Template,
  TemplateChecksBody,
  TemplateCredentials,
} from "../api/cluster-schemas.ts";
import type { PageOf } from "../api/schemas.ts";
import type { CallOptions, Held } from "./calls.ts";
import type { Call, Transport } from "./transport.ts";

export interface ClusterFilter {
  readonly pool?: string | undefined;
  readonly state?: string | undefined;
  readonly template?: string | undefined;
  /** For a provisioner: with what its driver needs. */
  readonly handles?: boolean | undefined;
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
}

/** Who acts on a cluster, and why. */
export interface Because {
  readonly by?: string;
  readonly reason?: string;
}

export interface CostWindow {
  /** RFC 3339, or an age such as `7d`; the same for `until`. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** One method per API call about clusters. Each sends one HTTP request and never retries. */
export class ClusterCalls {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  templates(options?: CallOptions): Promise<PageOf<Template>> {
    return this.#get(["v1", "templates"], { ...options });
  }

  template(name: string, options?: CallOptions): Promise<Template> {
    return this.#get(["v1", "templates", name], { ...options });
  }

  list(filter: ClusterFilter = {}, options?: CallOptions): Promise<PageOf<Cluster>> {
    return this.#get(["v1", "clusters"], { ...options, query: { ...filter } });
  }

  /** `handles`: for a provisioner, with what its driver needs. */
  one(
    name: string,
    { handles, ...options }: CallOptions & { readonly handles?: boolean } = {},
  ): Promise<Cluster> {
    return this.#get(["v1", "clusters", name], { ...options, query: { handles } });
  }

  plan(pool: string, options?: CallOptions): Promise<ClusterPlan> {
    return this.#get(["v1", "pools", pool, "plan"], { ...options });
  }

  /** All pages of the listing. */
  async every(filter: ClusterFilter = {}, options?: CallOptions): Promise<Cluster[]> {
    const all: Cluster[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page = { limit: 1_000, ...(after === undefined ? undefined : { after }) };
      const { items, next } = await this.list({ ...filter, ...page }, options);
      all.push(...items);
      after = next;
    }
    return all;
  }

  /** Clusters outside that nobody knows of. */
  async orphans(options?: CallOptions): Promise<Orphan[]> {
    const all: Orphan[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const query = { limit: 1_000, ...(after === undefined ? undefined : { after }) };
      const page = await this.#get<PageOf<Orphan>>(["v1", "orphans"], { ...options, query });
      all.push(...page.items);
      after = page.next;
    }
    return all;
  }

  /** For a provisioner: what a search has found. Answers which of them nobody knows of. */
  found(body: FoundBody, options?: CallOptions): Promise<{ readonly items: readonly Orphan[] }> {
    return this.#json({ method: "POST", path: ["v1", "orphans"], body, ...options });
  }

  /** For a provisioner: the credentials of all spaces that clusters of a template are made with. */
  templateCredentials(template: string): Promise<TemplateCredentials> {
    return this.#get(["v1", "templates", template, "credentials"], {});
  }

  logs(name: string, options?: CallOptions): Promise<ClusterLogs> {
    return this.#get(["v1", "clusters", name, "logs"], { ...options });
  }

  /** For the holder: the access to the cluster of a claim. */
  access(held: Held, claim: string, options?: CallOptions): Promise<ClusterAccess> {
    const path = ["v1", "leases", held.id, "claims", claim, "access"];
    return this.#get(path, { ...options, token: held.token });
  }

  /** For the worker that makes the cluster, with the token of its own lease. */
  putAccess(held: Held, claim: string, body: AccessBody, options?: CallOptions): Promise<void> {
    const path = ["v1", "leases", held.id, "claims", claim, "access"];
    return this.#done({ method: "PUT", path, body, token: held.token, ...options });
  }

  /** For the worker: what it has found out. Answers what is wanted of the cluster. */
  report(held: Held, claim: string, body: ReportBody, options?: CallOptions): Promise<Reported> {
    const path = ["v1", "leases", held.id, "claims", claim, "report"];
    return this.#json({ method: "POST", path, body, token: held.token, ...options });
  }

  /** For the worker: the logs of a cluster that failed. */
  putLogs(held: Held, claim: string, body: LogBody, options?: CallOptions): Promise<void> {
    const path = ["v1", "leases", held.id, "claims", claim, "logs"];
    return this.#done({ method: "PUT", path, body, token: held.token, ...options });
  }

  /** For the worker: the credentials of the space that the cluster is for. */
  ownCredentials(held: Held, claim: string, options?: CallOptions): Promise<OwnCredentials> {
    const path = ["v1", "leases", held.id, "claims", claim, "credentials"];
    return this.#get(path, { ...options, token: held.token });
  }

  /** For a provisioner whose driver makes access when the cluster is lent. */
  putLentAccess(name: string, body: LentAccessBody, options?: CallOptions): Promise<void> {
    return this.#done({
      method: "PUT",
      path: ["v1", "clusters", name, "access"],
      body,
      ...options,
    });
  }

  lost(name: string, body: LostBody, options?: CallOptions): Promise<void> {
    return this.#done({ method: "POST", path: ["v1", "clusters", name, "lost"], body, ...options });
  }

  /** For the holder: another cluster in place of the one of this claim. */
  replace(held: Held, claim: string, options?: CallOptions): Promise<void> {
    const path = ["v1", "leases", held.id, "claims", claim, "replace"];
    return this.#done({ method: "POST", path, token: held.token, ...options });
  }

  /** For operators: keeps a cluster for debugging. `for` is a duration. */
  hold(name: string, body: Because & { readonly for: string }): Promise<Cluster> {
    return this.#json({ method: "PUT", path: ["v1", "clusters", name, "hold"], body });
  }

  unhold(name: string, why: Because): Promise<Cluster> {
    return this.#json({
      method: "DELETE",
      path: ["v1", "clusters", name, "hold"],
      query: { ...why },
    });
  }

  destroy(name: string, why: Because): Promise<void> {
    return this.#done({ method: "DELETE", path: ["v1", "clusters", name], query: { ...why } });
  }

  /** Removes it from the books although it may still exist outside. */
  abandon(name: string, body: Because): Promise<void> {
    return this.#done({ method: "POST", path: ["v1", "clusters", name, "abandon"], body });
  }

  adopt(name: string, body: AdoptBody): Promise<Cluster> {
    return this.#json({ method: "PUT", path: ["v1", "clusters", name], body });
  }

  credentials(options?: CallOptions): Promise<PageOf<Credentials>> {
    return this.#get(["v1", "credentials"], { ...options });
  }

  putCredentials(name: string, body: CredentialsBody): Promise<Credentials> {
    return this.#json({ method: "PUT", path: ["v1", "credentials", name], body });
  }

  deleteCredentials(name: string): Promise<void> {
    return this.#done({ method: "DELETE", path: ["v1", "credentials", name] });
  }

  /** For a provisioner: credentials that a space wants to store. Waits; undefined: there are none. */
  async takeCheck(wait: string, options: CallOptions): Promise<CheckToDo | undefined> {
    const path = ["v1", "credential-checks"];
    const call = { method: "GET", path, query: { wait }, ...options } as const;
    const { status, body } = await this.#transport.send(call);
    return status === 204 ? undefined : (body as CheckToDo);
  }

  answerCheck(id: string, body: CheckBody): Promise<void> {
    return this.#done({ method: "PUT", path: ["v1", "credential-checks", id], body });
  }

  /** For a provisioner: the templates that it cannot use, all of them, again and again. */
  templatesChecked(body: TemplateChecksBody, options?: CallOptions): Promise<void> {
    return this.#done({ method: "PUT", path: ["v1", "template-checks"], body, ...options });
  }

  costs(window: CostWindow = {}, options?: CallOptions): Promise<Costs> {
    return this.#get(["v1", "costs"], { ...options, query: { ...window } });
  }

  #get<T>(path: readonly string[], rest: Omit<Call, "method" | "path">): Promise<T> {
    return this.#json({ method: "GET", path, ...rest });
  }

  async #json<T>(call: Call): Promise<T> {
    return (await this.#transport.send(call)).body as T;
  }

  async #done(call: Call): Promise<void> {
    await this.#transport.send(call);
  }
}
