/** Selects the events about one request or one resource. The page uses it for events of the feed. */
export interface EventFilter {
  /** Of a request or of the lease that it became. */
  readonly id?: string | undefined;
  readonly resource?: string | undefined;
}

export function isAbout(event: object, { id, resource }: EventFilter): boolean {
  if (id !== undefined && !isOfRequest(event, id)) return false;
  return resource === undefined || namesResource(event, resource);
}

/** A rate changes because of a report of a lease. */
function isOfRequest(event: object, id: string): boolean {
  if ("id" in event && event.id === id) return true;
  if (!("cause" in event) || typeof event.cause !== "object" || event.cause === null) return false;
  return "lease" in event.cause && event.cause.lease === id;
}

/** Whether a key `resource`, at any depth, has this name. */
function namesResource(value: unknown, name: string): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([key, part]) => (key === "resource" && part === name) || namesResource(part, name),
  );
}
