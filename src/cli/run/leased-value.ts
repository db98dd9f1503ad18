/**
 * What a job is told of a resource: the region, where its name has one. `us-east-1--slice-07` and
 * `aws-2--us-east-1--slice-07` are both in us-east-1; any other name is told whole.
 */
export function leasedValue(resource: string): string {
  const parts = resource.split("--");
  if (parts.length >= 3) return parts[1] ?? "";
  return parts.length === 2 ? (parts[0] ?? "") : resource;
}
