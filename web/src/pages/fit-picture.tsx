import type { Explanation, Resource } from "../../../src/api/schemas.ts";
import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { at } from "../router.ts";
import { type Amounts, type Fit, fitsOf, releasesFor } from "./fit-facts.ts";

type Room = NonNullable<Explanation["needs"][number]["rooms"]>[number];

interface Props {
  readonly amount: Amounts;
  readonly resources: readonly Resource[];
  /** Why the request cannot use a resource, however empty it is. */
  readonly rooms: readonly Room[];
  /** How many hosts are shown: those that miss least. */
  readonly max?: number;
}

/** More hosts than anybody compares. */
const shownMax = 12;

/** For each shared resource: what is used, what is asked for, and what would have to come free. */
export function FitPicture({ amount, resources, rooms, max = shownMax }: Props) {
  const shared = resources.filter(({ usage }) => usage !== undefined);
  const nearest = shared.toSorted((a, b) => lackOf(amount, a) - lackOf(amount, b));
  return (
    <>
      <ul className="fits" aria-label="Room on each resource">
        {nearest.slice(0, max).map((resource) => (
          <Host
            key={resource.name}
            resource={resource}
            amount={amount}
            room={rooms.find((room) => room.resource === resource.name)}
          />
        ))}
      </ul>
      <p className="legend">
        <span>
          <i className="look-held" aria-hidden="true" /> in use
        </span>
        <span>
          <i className="key-asked" aria-hidden="true" /> asked for
        </span>
        <span>
          <i className="key-missing" aria-hidden="true" /> missing
        </span>
        {shared.length > max ? (
          <span>
            The {max} of {grouped(shared.length)} that miss least
          </span>
        ) : null}
      </p>
    </>
  );
}

/** The largest missing part of any dimension; a resource with less is nearer to a fit. */
function lackOf(amount: Amounts, { usage = [] }: Resource): number {
  return Math.max(
    0,
    ...fitsOf(amount, usage).map(({ missing, capacity }) => missing / Math.max(1e-9, capacity)),
  );
}

interface HostProps {
  readonly resource: Resource;
  readonly amount: Amounts;
  readonly room: Room | undefined;
}

function Host({ resource, amount, room }: HostProps) {
  const { name, usage = [], shares = [] } = resource;
  const fits = fitsOf(amount, usage);
  return (
    <li>
      <Link href={at("resources", name)}>{name}</Link>
      <div>
        {fits.map((fit) => (
          <FitBar key={fit.dimension} fit={fit} />
        ))}
        <p>
          {room?.unfit === undefined ? (
            <WhatIsMissing fits={fits} shares={shares} isKept={room?.fits === false} />
          ) : (
            `Not usable: ${room.unfit}.`
          )}
        </p>
      </div>
    </li>
  );
}

function FitBar({ fit: { dimension, used, capacity, asked, missing } }: { fit: Fit }) {
  const whole = Math.max(capacity, used + asked, 1e-9);
  const width = (amount: number) => ({ width: `${(amount / whole) * 100}%` });
  const free = Math.max(0, capacity - used);
  const words = `${grouped(free)} free, ${grouped(asked)} needed`;
  return (
    <div className={missing > 0 ? "fit short" : "fit"}>
      <span>{dimension}</span>
      <span className="fit-bar" role="img" aria-label={`${dimension}: ${words}`}>
        <span className="fit-used" style={width(used)} />
        <span className="fit-asked" style={width(asked - missing)} />
        <span className="fit-missing" style={width(missing)} />
        <i style={{ left: `${(capacity / whole) * 100}%` }} />
      </span>
      <span>{words}</span>
    </div>
  );
}

interface MissingProps {
  readonly fits: readonly Fit[];
  readonly shares: NonNullable<Resource["shares"]>;
  /** It would fit, but what is free is kept for a request ahead. */
  readonly isKept: boolean;
}

const namedMax = 3;

function WhatIsMissing({ fits, shares, isKept }: MissingProps) {
  const missing = fits.filter((fit) => fit.missing > 0);
  if (missing.length === 0) {
    return isKept ? "It would fit, but the room is kept for a request ahead." : "It fits here.";
  }
  const lack = missing.map((fit) => `${grouped(fit.missing)} ${fit.dimension}`).join(" and ");
  const { how, holders } = releasesFor(fits, shares);
  if (holders.length === 0) return `${lack} more than it has in all.`;
  const named = holders.slice(0, namedMax);
  return (
    <>
      <strong>{lack} must come free</strong>: when{" "}
      {named.map(({ id, holder }, index) => (
        <span key={id}>
          {index === 0 ? "" : how === "any" ? " or " : " and "}
          <Link href={at("leases", id)}>{holder}</Link>
        </span>
      ))}
      {holders.length > namedMax
        ? ` ${how === "any" ? "or" : "and"} ${holders.length - namedMax} more`
        : ""}{" "}
      {how === "all" && holders.length > 1 ? "release" : "releases"} it.
    </>
  );
}
