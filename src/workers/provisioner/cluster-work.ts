/** The source of a provisioner's work: the broker in this process, or another server. */
import type { UnusableTemplate } from "../../api/cluster-schemas.ts";
import type { ClusterReport, Parameters, Phase, Wanted } from "../../core/model/cluster.ts";
import type { HubFindings } from "../../core/model/hub.ts";
import type { FoundCluster, SearchScope } from "../../core/model/orphan.ts";
import type { AccessBundle, ClusterRef, Json } from "../../drivers/driver.ts";
import type { HubCluster } from "../../drivers/hub/hub-clusters.ts";
import { externalName } from "../../drivers/names.ts";

/** What is known about a cluster, by the journal. */
export interface ClusterFacts {
  readonly resource: string;
  readonly pool: string;
  readonly instance: string;
  readonly template: string;
  readonly revision: string;
  readonly parameters: Parameters;
  readonly hub: string | null;
  /** Whose it is, as far as that is known: that of its holder, or of the credentials that it is made with. */
  readonly space: string | null;
  /** Undefined if `create` has not returned it, or if its reply was lost. */
  readonly handle: Json | undefined;
}

/** A cluster that this provisioner has leased, in the phase that has work for it. */
export interface ClusterTask extends ClusterFacts {
  readonly phase: Phase;
  /** Aborts when the lease is lost, or when the time for the phase is over. */
  readonly lost: AbortSignal;
  /** Tells what was found out, and learns what is wanted now. */
  report(report: ClusterReport): Promise<Wanted>;
  putAccess(bundle: AccessBundle): Promise<void>;
  putLogs(why: string, text: string): Promise<void>;
  /** The credentials that the space of its request has stored. */
  ownCredentials(): Promise<Readonly<Record<string, string>>>;
  /** Ends the heartbeats and releases the lease. Never rejects. */
  finish(result: WorkResult): Promise<void>;
}

/** What every task knows about its cluster. */
export class TaskFacts implements ClusterFacts {
  readonly resource: string;
  readonly pool: string;
  readonly instance: string;
  readonly template: string;
  readonly revision: string;
  readonly parameters: Parameters;
  readonly hub: string | null;
  readonly space: string | null;
  readonly handle: Json | undefined;
  readonly phase: Phase;

  constructor(facts: ClusterFacts, phase: Phase) {
    this.resource = facts.resource;
    this.pool = facts.pool;
    this.instance = facts.instance;
    this.template = facts.template;
    this.revision = facts.revision;
    this.parameters = facts.parameters;
    this.hub = facts.hub;
    this.space = facts.space;
    this.handle = facts.handle;
    this.phase = phase;
  }
}

/** Without a state and a failure, the work was interrupted and is to be done again. */
export interface WorkResult {
  /** The state that the cluster has reached. */
  readonly state?: string;
  /** Why it failed. Without a state it is tried again, later. */
  readonly failure?: string;
}

/** A cluster in the books. One that a worker holds has the state of its phase. */
export interface WatchedCluster extends ClusterFacts {
  readonly state: string;
}

/** Who uses a cluster now. */
export interface Lent {
  readonly fence: number;
  /** The end of its lease; undefined: it has none. */
  readonly endsAtMs: number | undefined;
}

/** A cluster outside that is not in the books. */
export interface SeenOrphan extends FoundCluster {
  /** For how long it has been known. */
  readonly seenMs: number;
}

/** What a space has stored, for its own clusters. */
export interface SpaceCredentials {
  /** As the clusters have it in their parameters. */
  readonly reference: string;
  readonly values: Readonly<Record<string, string>>;
}

/** Credentials that a space wants to store. */
export interface CredentialCheck {
  readonly id: string;
  readonly template: string;
  readonly values: Readonly<Record<string, string>>;
}

/** `unknown`: the driver could not tell. */
export interface CheckResult {
  readonly verdict: "valid" | "refused" | "unknown";
  readonly why: string;
}

export interface ClusterWork {
  /** Leases one cluster that has work, or returns undefined if there is none. */
  take(): Promise<ClusterTask | undefined>;
  /** Resolves when there may be work, or when a cluster was lent. */
  waitForWork(signal: AbortSignal): Promise<void>;
  /** All clusters in the books, those included that workers hold. */
  clusters(): Promise<readonly WatchedCluster[]>;
  /** Undefined if nobody uses it any longer. */
  lentOf(cluster: ClusterFacts): Promise<Lent | undefined>;
  /** The cluster is gone or has failed outside. */
  lost(cluster: ClusterFacts, why: string): Promise<void>;
  /** What a search has found outside, all of this scope. Answers which of them nobody knows of. */
  found(scope: SearchScope, found: readonly FoundCluster[]): Promise<readonly SeenOrphan[]>;
  /** The credentials of this name that the spaces have stored, for clusters of a template. */
  spaceCredentials(template: string, name: string): Promise<readonly SpaceCredentials[]>;
  /** Credentials that a space wants to store; undefined if there were none for a while. */
  takeCheck(signal: AbortSignal): Promise<CredentialCheck | undefined>;
  answerCheck(check: CredentialCheck, result: CheckResult): Promise<void>;
  /** What a probe of a hub has found. */
  hubProbed(hub: string, probe: HubFindings & { readonly error?: string }): Promise<void>;
  /** All clusters on a hub that it is to show, whoever has made them. */
  hubClusters(hub: string, clusters: readonly HubCluster[]): Promise<void>;
  /** All templates that this provisioner cannot use now. It is repeated, or it is forgotten. */
  templatesChecked(unusable: readonly UnusableTemplate[], signal: AbortSignal): Promise<void>;
  /** Access that was made for the present holder. */
  putLentAccess(cluster: ClusterFacts, lent: MintedAccess): Promise<void>;
}

export interface MintedAccess {
  readonly bundle: AccessBundle;
  /** Of the claim that it is for. */
  readonly fence: number;
  /** Undefined if it does not expire by itself. Other clocks than that of the server may be wrong. */
  readonly lastsMs: number | undefined;
}

export function refOf({ instance, handle }: ClusterFacts): ClusterRef {
  const name = externalName(instance);
  return { name, instance, ...(handle === undefined ? undefined : { handle }) };
}
