import { Hopeless } from "../driver.ts";

const value = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;

/** Selects by exact values. Anything that is no label would select something else. */
export function labelSelector(labels: Readonly<Record<string, string | number | boolean>>): string {
  return Object.entries(labels)
    .map(([key, text]) => {
      if (value.test(String(text))) return `${key}=${text}`;
      throw new Hopeless(`Cannot select by the label ${key}: its value is no label of Kubernetes`);
    })
    .join(",");
}
