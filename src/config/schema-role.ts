import Type from "typebox";
import { roles } from "../auth/roles.ts";

export const RoleName = Type.Union(
  roles.map((role) => Type.Literal(role)),
  {
    title: "role",
    description:
      "viewer reads everything; holder asks, and sees its own space; worker cleans too; operator " +
      "acts on the leases and resources of others; admin may nothing more yet.",
  },
);
