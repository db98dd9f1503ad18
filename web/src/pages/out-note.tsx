import type { Pool } from "../../../src/api/schemas.ts";
import { useAnswer } from "../data/query.ts";
import { resourcesOf } from "../data/questions.ts";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { stateName } from "../parts/state-look.ts";
import { Age } from "../parts/times.tsx";
import { at } from "../router.ts";
import { countOut, outIn, whyOut } from "./out-facts.ts";

/** As many as are read at a glance. */
const namedMax = 2;

/** Which resources of a pool are out of service, and why: their tiles are far below. */
export function OutNote({ pool: { name, states } }: { pool: Pool }) {
  const { data } = useAnswer(resourcesOf(name));
  const out = data && outIn(data);
  const count = out?.length ?? countOut(states);
  if (count === 0) return null;
  const more = count - namedMax;
  return (
    <ul className="out-note" aria-label="Out of service">
      {out === undefined
        ? // The place of those that are still read.
          Array.from({ length: Math.min(namedMax, count) }, (_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
            <li key={index}>&nbsp;</li>
          ))
        : out.slice(0, namedMax).map((resource, index) => {
            const why = whyOut(resource);
            return (
              <li key={resource.name}>
                <Link href={at("resources", resource.name)}>{resource.name}</Link>
                <span>{stateName(resource.state)}</span>
                <span className="why faint" title={why}>
                  for <Age since={resource.changedAt} />
                  {why === "" ? "" : `: ${why}`}
                </span>
                {more > 0 && index === namedMax - 1 ? (
                  <Link href={`/out?${new URLSearchParams({ q: name })}`}>
                    and {grouped(more)} more
                  </Link>
                ) : null}
              </li>
            );
          })}
    </ul>
  );
}
