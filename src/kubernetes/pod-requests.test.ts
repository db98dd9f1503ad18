import { expect, test } from "vitest";
import { amountOf, type Container, type PodObject, requestsOf } from "./pod-requests.ts";

const wants = (cpu: string, memory: string, extra: Partial<Container> = {}): Container => ({
  resources: { requests: { cpu, memory } },
  ...extra,
});
const stays = { restartPolicy: "Always" };
const pod = (spec: NonNullable<PodObject["spec"]>): PodObject => ({
  metadata: { name: "pod" },
  spec,
});

test.each<[string, NonNullable<PodObject["spec"]>, { cpu: number; memory: number }]>([
  ["nothing", {}, { cpu: 0, memory: 0 }],
  [
    "the sum of its containers",
    { containers: [wants("500m", "1k"), wants("2", "24")] },
    { cpu: 2.5, memory: 1_024 },
  ],
  ["0 for a pod without requests", { containers: [wants("1", "1"), {}] }, { cpu: 1, memory: 1 }],
  [
    "the limit if there is no request",
    {
      containers: [{ resources: { limits: { cpu: "1", memory: "5" }, requests: { cpu: "250m" } } }],
    },
    { cpu: 0.25, memory: 5 },
  ],
  [
    "the largest init container, if it needs more",
    { initContainers: [wants("4", "1"), wants("1", "9")], containers: [wants("2", "3")] },
    { cpu: 4, memory: 9 },
  ],
  [
    "sidecars together with all containers after them",
    {
      initContainers: [wants("1", "1"), wants("1", "1", stays), wants("3", "1")],
      containers: [wants("2", "5")],
    },
    { cpu: 4, memory: 6 },
  ],
  [
    "the overhead of its runtime",
    { containers: [wants("1", "1")], overhead: { cpu: "250m" } },
    { cpu: 1.25, memory: 1 },
  ],
])("requestsOf() counts %s", (_, spec, want) => {
  expect(requestsOf(pod(spec))).toEqual(want);
});

test("amountOf() throws on a text that is not a quantity", () => {
  expect(() => amountOf({ memory: "12 GiB" })).toThrow(
    'Cannot read the quantity "12 GiB" of memory',
  );
});
