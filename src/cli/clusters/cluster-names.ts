import type { Context } from "../cli-command.ts";

/** For the completion of the shell. */
export async function clusterNames({ client }: Context): Promise<string[]> {
  return (await client.clusters.every()).map(({ name }) => name);
}
