/** What a caller may do. Each route declares one action, and each role allows some of them. */

/** In the order of their power, weakest first: a refusal names the first role that would do. */
export const roles = ["viewer", "holder", "worker", "operator", "admin"] as const;
export type Role = (typeof roles)[number];

export const actions = ["read", "observe", "ask", "clean", "operate", "administer"] as const;
/**
 * - `read`: read what concerns the caller. A holder sees its own space, and counts of the others.
 * - `observe`: read everything of all spaces.
 * - `ask`: request leases.
 * - `clean`: lease resources that are not free, and change the states of idle ones.
 * - `operate`: act on the leases and resources of others, and read who did what.
 * - `administer`: no call needs it yet.
 */
export type Action = (typeof actions)[number];

const allowed: Readonly<Record<Role, readonly Action[]>> = {
  viewer: ["read", "observe"],
  holder: ["read", "ask"],
  worker: ["read", "observe", "ask", "clean"],
  operator: ["read", "observe", "ask", "clean", "operate"],
  admin: actions,
};

export function mayDo(role: Role, action: Action): boolean {
  return allowed[role].includes(action);
}

/** The weakest role that allows the action. */
export function roleFor(action: Action): Role {
  return roles.find((role) => mayDo(role, action)) ?? "admin";
}
