/**
 * Returns the region that a resource's name contains: us-east-1 for `us-east-1--slice-07` and for
 * `aws-2--us-east-1--slice-07`. Returns the whole name if it contains no region.
 */
export function leasedValue(resource: string): string {
  const parts = resource.split("--");
  if (parts.length >= 3) return parts[1] ?? "";
  return parts.length === 2 ? (parts[0] ?? "") : resource;
}
