import Type from "typebox";
import { profilesMax } from "./limits.ts";
import { Name } from "./schema-fields.ts";

/** What a test says instead of the pools behind it. */
export const Profile = Type.Object(
  {
    type: Type.String({
      ...Name,
      description: "The kind of cluster; the job gets it as CLUSTER_TYPE.",
      examples: ["aws"],
    }),
    pool: Type.String({
      ...Name,
      description: "One of this pool is leased for the whole job, as LEASED_RESOURCE.",
      examples: ["aws-quota-slice"],
    }),
    ipPool: Type.Optional(
      Type.String({
        ...Name,
        description:
          "Addresses are taken from <ipPool>-<region> as well, if there are enough of them at once.",
        examples: ["aws-ip-pools"],
      }),
    ),
    members: Type.Optional(
      Type.Array(Name, {
        title: "list of profiles",
        description:
          "Makes it a set: the name of what is granted, <profile>--<region>--…, says which of these " +
          "profiles the job gets.",
        maxItems: profilesMax,
      }),
    ),
  },
  {
    title: "profile",
    description: "What a job leases when it names this profile, and what it gets with the lease.",
    additionalProperties: false,
    examples: [{ type: "aws", pool: "aws-quota-slice" }],
  },
);

export const Profiles = Type.Record(Name, Profile, {
  title: "map of profiles",
  description: "Names for what kinds of jobs need; berth run --profile uses them.",
  additionalProperties: false,
  maxProperties: profilesMax,
});
