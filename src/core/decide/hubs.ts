/** Commands about hubs, and the hubs of a new configuration. */
import type { HubCommand } from "../model/command.ts";
import { type Hub, type HubFindings, type HubSpec, hubErrorLengthMax } from "../model/hub.ts";
import { nearest } from "../model/nearest.ts";
import { done, type Outcome, type Refusal, refused } from "../model/outcome.ts";
import { same } from "../model/policy.ts";
import type { State } from "../model/state.ts";
import { emit, type Turn } from "./turn.ts";

type Of<Type extends HubCommand["type"]> = Extract<HubCommand, { type: Type }>;

/** Before the pools, whose clusters may be planned on them at once. */
export function defineHubs(turn: Turn, hubs: readonly HubSpec[]): void {
  for (const spec of hubs) {
    const known = turn.state.hubs.get(spec.name);
    const isSame = known !== undefined && !known.retired && same(known.spec, spec);
    if (!isSame) emit(turn, { type: "hub-defined", ...spec });
  }
  const names = new Set(hubs.map(({ name }) => name));
  for (const { name, retired } of [...turn.state.hubs.values()]) {
    if (!names.has(name) && !retired) emit(turn, { type: "hub-retired", name });
  }
}

export function setHub(turn: Turn, { hub: name, state, reason }: Of<"hub-set">): Outcome {
  const hub = turn.state.hubs.get(name);
  if (hub === undefined) return refused(hubNotFound(turn.state, name));
  if (state === "active" && hub.spec.state !== undefined) {
    return refused({ code: "hub_configured", hub: name, state: hub.spec.state });
  }
  if ((hub.set?.state ?? "active") === state) return done;
  emit(turn, { type: "hub-set", name, state, reason });
  return done;
}

/** A probe that finds nothing new costs nothing: it has no event. */
export function hubProbed(turn: Turn, command: Of<"hub-probed">): Outcome {
  const { hub: name, type: _, error, ...found } = command;
  const hub = turn.state.hubs.get(name);
  // A provisioner may have an older configuration.
  if (hub === undefined) return refused(hubNotFound(turn.state, name));
  if (error !== undefined) {
    const text = error.slice(0, hubErrorLengthMax);
    if (hub.outage?.error !== text) emit(turn, { type: "hub-probed", name, error: text });
    return done;
  }
  const news = newsIn(hub, found);
  const isNew = hub.outage !== null || hub.findings === null || Object.keys(news).length > 0;
  const back = hub.outage === null ? undefined : { error: null };
  if (isNew) emit(turn, { type: "hub-probed", name, ...back, ...news });
  return done;
}

function newsIn({ findings }: Hub, found: HubFindings): HubFindings {
  const entries = Object.entries(found).filter(([key, value]) => {
    return value !== undefined && !same(value, findings?.[key as keyof HubFindings]);
  });
  return Object.fromEntries(entries);
}

export function hubNotFound({ hubs }: State, hub: string): Refusal {
  const meant = nearest(hub, [...hubs.keys()]);
  return { code: "hub_not_found", hub, ...(meant === undefined ? undefined : { nearest: meant }) };
}
