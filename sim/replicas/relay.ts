/** As `src/http/relay`: a server that does not lead passes calls on, and waits while nobody leads. */
import type { Random } from "../../src/insight/forecast/random.ts";
import type { Call, Reply, Server } from "../server.ts";
import type { World } from "../world.ts";
import type { Member } from "./member.ts";

const leaderMsMax = 50_000;
const retryMs = 250;
const lastWordMs = 2_500;
const slowMsMax = 5_000;

export interface RelayEntry {
  readonly member: Member;
  readonly server: Server;
}

export interface RelayWorld {
  readonly world: World;
  readonly random: Random;
  isBad(): boolean;
  find(name: string): RelayEntry | undefined;
  /** Whether the entry does not reach the other one. */
  areApart(other: RelayEntry): boolean;
}

/** Lost: nobody knows whether the call had an effect. Again: it had none. */
type Attempt = Reply | "lost" | "again";

export async function relay(
  entry: RelayEntry,
  call: Call,
  relayWorld: RelayWorld,
): Promise<Reply | undefined> {
  const { world } = relayWorld;
  const { member, server } = entry;
  const { broker } = member;
  const startedMs = world.nowMs;
  while (member.broker === broker) {
    while (server.isPaused) await world.sleep(retryMs);
    if (member.isLeading) {
      const reply = await server.call(call);
      if (reply?.type !== "unavailable" || reply.notLeader !== true) return reply;
    } else {
      const attempt = await attemptAt(entry, call, relayWorld);
      if (typeof attempt === "object") return attempt;
      if (attempt === "lost" && !isRepeatable(call)) return { type: "unavailable" };
    }
    if (world.nowMs - startedMs > leaderMsMax) return { type: "unavailable" };
    await world.sleep(retryMs);
  }
  return undefined; // It has died, and its connections with it.
}

function isRepeatable(call: Call): boolean {
  if (call.type === "acquire" || call.type === "ask-by-name") return call.ask.key !== undefined;
  return call.type !== "operate" && call.type !== "take-by-name";
}

async function attemptAt(
  { member }: RelayEntry,
  call: Call,
  { world, random, isBad, find, areApart }: RelayWorld,
): Promise<Attempt> {
  const name = member.leader;
  const leader = name === undefined ? undefined : find(name);
  if (leader === undefined || leader.member === member || areApart(leader)) return "again";
  const isLost = () => isBad() && random.chance(0.02);
  const delay = () =>
    world.sleep(random.between(0, isBad() && random.chance(0.02) ? slowMsMax : 5));
  const answered = async (): Promise<Attempt> => {
    await delay();
    if (isLost()) return "lost";
    const reply = await leader.server.call(call);
    if (reply === undefined) return "lost";
    if (reply.type === "unavailable" && reply.notLeader === true) return "again";
    if (isLost() || areApart(leader)) {
      leader.server.replyEnded(reply, { arrived: random.chance(0.5) });
      return "lost";
    }
    await delay();
    return reply;
  };
  const replaced = Promise.withResolvers<"lost">();
  const stop = watchLeader(member, world, () => replaced.resolve("lost"));
  const attempt = await Promise.race([answered(), replaced.promise]);
  stop();
  return attempt;
}

/** Calls `giveUp` if another server leads, and the one that was asked has still not answered. */
function watchLeader(member: Member, world: World, giveUp: () => void): () => void {
  const { leader, replica } = member;
  let cancel = () => {};
  const stop = replica?.onChange(() => {
    if (member.leader === undefined || member.leader === leader) return;
    stop?.();
    cancel = world.after(lastWordMs, giveUp);
  });
  return () => {
    stop?.();
    cancel();
  };
}
