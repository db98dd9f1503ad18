/**
 * Pools and resources as the objects of Dynamic Resource Allocation, for those who write a driver.
 * The limits are those of `resource.k8s.io/v1`.
 */
import type { Resource } from "../api/schemas.ts";
import { busyState, freeState } from "../core/model/lifecycle.ts";
import type { KubeObject } from "./kube-objects.ts";

const apiVersion = "resource.k8s.io/v1";
const devicesMax = 128;
const entriesMax = 32;
const keyLengthMax = 32;
const valueLengthMax = 64;
const nameLengthMax = 63;

interface DeviceObject extends KubeObject {
  readonly spec: object;
}

export interface DeviceObjects {
  /** A class for each pool, and slices with its resources. */
  readonly items: readonly DeviceObject[];
  /** What could not be expressed, and why. */
  readonly leftOut: readonly string[];
}

export function deviceObjects(resources: readonly Resource[], driver: string): DeviceObjects {
  const leftOut: string[] = [];
  const byPool = [...Map.groupBy(resources, ({ pool }) => pool)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const poolNames = new UniqueNames();
  const items = byPool.flatMap(([pool, members]) => {
    const name = poolNames.take(pool);
    const usable = members.filter(isLendable);
    const others = members.length - usable.length;
    if (others > 0) leftOut.push(`${others} of ${pool}: neither free nor held, or drained`);
    const deviceNames = new UniqueNames();
    const devices = usable.map((member) =>
      deviceOf(member, deviceNames.take(member.name), leftOut),
    );
    return [classOf(name, pool, driver), ...slicesOf(name, driver, devices)];
  });
  return { items, leftOut };
}

function isLendable({ state, drained, retiring }: Resource): boolean {
  return !drained && !retiring && (state === freeState || state === busyState);
}

function classOf(name: string, pool: string, driver: string): DeviceObject {
  const owner = JSON.stringify(driver);
  const expression = `device.driver == ${owner} && device.attributes[${owner}].pool == ${JSON.stringify(pool)}`;
  const spec = { selectors: [{ cel: { expression } }] };
  return { apiVersion, kind: "DeviceClass", metadata: { name }, spec };
}

function slicesOf(name: string, driver: string, devices: readonly object[]): DeviceObject[] {
  const resourceSliceCount = Math.ceil(devices.length / devicesMax);
  return Array.from({ length: resourceSliceCount }, (_, index) => ({
    ...{ apiVersion, kind: "ResourceSlice", metadata: { name: `${name}-${index + 1}` } },
    spec: {
      driver,
      pool: { name, generation: 1, resourceSliceCount },
      allNodes: true,
      devices: devices.slice(index * devicesMax, (index + 1) * devicesMax),
    },
  }));
}

function deviceOf(resource: Resource, name: string, leftOut: string[]): object {
  const { usage = [], labels } = resource;
  const skip = (what: string, why: string) =>
    void leftOut.push(`${what} of ${resource.name}: ${why}`);
  const capacity: Record<string, { value: string }> = {};
  for (const { dimension, capacity: amount } of usage) {
    capacity[keyOf(dimension)] = { value: String(amount) };
  }
  const attributes: Record<string, { string: string }> = {};
  const room = entriesMax - Object.keys(capacity).length;
  for (const [key, value] of [
    ["pool", resource.pool],
    ["resource", resource.name],
    ...Object.entries(labels),
  ] as const) {
    const id = keyOf(key);
    if (Object.hasOwn(attributes, id)) skip(`label ${key}`, `another one is called ${id} too`);
    else if (value.length > valueLengthMax) skip(key, `it has more than ${valueLengthMax} letters`);
    else if (Object.keys(attributes).length >= room) skip(key, "the device has too many entries");
    else attributes[id] = { string: value };
  }
  if (usage.length === 0) return { name, attributes };
  return { name, attributes, capacity, allowMultipleAllocations: true };
}

/** Keys of attributes and capacities are identifiers as in C. */
function keyOf(text: string): string {
  const id = text.replace(/[^A-Za-z0-9_]/g, "_").slice(0, keyLengthMax);
  return /^[0-9]/.test(id) ? `_${id}`.slice(0, keyLengthMax) : id;
}

/** Names of Berth as names of Kubernetes, which know no upper case. */
class UniqueNames {
  readonly #taken = new Set<string>();

  take(text: string): string {
    const plain = text.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    const name =
      plain
        .replace(/^-+/, "")
        .slice(0, nameLengthMax - 5)
        .replace(/-+$/, "") || "x";
    let unique = name;
    for (let count = 2; this.#taken.has(unique); count++) unique = `${name}-${count}`;
    this.#taken.add(unique);
    return unique;
  }
}
