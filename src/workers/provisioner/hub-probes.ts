/** Looks at every hub again and again, and tells the broker what has changed. */
import { pause } from "../../client/pause.ts";
import type { HubPlace } from "../../config/read-hubs.ts";
import { clustersOnHub } from "../../drivers/hub/hub-clusters.ts";
import type { SweepTools } from "./lent-access.ts";
import type { Probe } from "./probe-hub.ts";
import { probeHub } from "./probe-hub.ts";

export const probeMsDefault = 15_000;
/** A first failure is checked soon: one lost packet is no outage. */
const confirmMs = 1_000;
const showMs = 60_000;

export class HubProbes {
  readonly #tools: SweepTools;
  readonly #everyMs: number;
  readonly #signal: AbortSignal;
  readonly #retrying: (cause: unknown) => void;
  readonly #shownAt = new Map<string, number>();
  #wake = Promise.withResolvers<void>();

  constructor(tools: SweepTools, { probeMs = probeMsDefault, signal, retrying }: ProbeOptions) {
    this.#tools = tools;
    this.#everyMs = probeMs;
    this.#signal = signal;
    this.#retrying = retrying;
  }

  /** The configuration has changed, so that there may be other hubs. */
  wake(): void {
    this.#wake.resolve();
  }

  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      this.#wake = Promise.withResolvers();
      await Promise.all(this.#tools.hubs.all.map((hub) => this.#probe(hub)));
      const rest = pause(this.#everyMs, this.#signal).catch(() => {});
      await Promise.race([rest, this.#wake.promise]);
    }
  }

  async #probe(hub: HubPlace): Promise<void> {
    try {
      const first = await this.#look(hub);
      if (first.error !== undefined) await pause(confirmMs, this.#signal);
      const probe = first.error === undefined ? first : await this.#look(hub);
      await this.#tools.work.hubProbed(hub.name, probe);
      // What was seen before an outage is old: the first answer after it brings a new list.
      if (probe.error !== undefined) this.#shownAt.delete(hub.name);
      else if (hub.foreign !== undefined) await this.#show(hub, hub.foreign);
    } catch (cause) {
      if (!this.#signal.aborted) this.#retrying(cause);
    }
  }

  /** Lists of clusters are long, and change slowly. */
  async #show(hub: HubPlace, labels: Readonly<Record<string, string>>): Promise<void> {
    const now = performance.now();
    if (now - (this.#shownAt.get(hub.name) ?? Number.NEGATIVE_INFINITY) < showMs) return;
    const found = await clustersOnHub(this.#tools.drivers.hub(hub), labels, this.#signal);
    await this.#tools.work.hubClusters(hub.name, found);
    this.#shownAt.set(hub.name, now);
  }

  #look(hub: HubPlace): Promise<Probe> {
    const { drivers, archive } = this.#tools;
    const templates = archive.current.filter(({ hubs }) => hubs?.includes(hub.name));
    return probeHub(drivers.hub(hub), templates, this.#signal);
  }
}

interface ProbeOptions {
  readonly probeMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly retrying: (cause: unknown) => void;
}
