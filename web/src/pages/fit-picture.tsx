import { Link } from "../parts/link.tsx";
import { grouped } from "../parts/numbers.ts";
import { at } from "../router.ts";
import { type Amounts, type Fit, fitsOf, type Room, releasesFor } from "./fit-facts.ts";

interface Props {
  readonly amount: Amounts;
  /** How many resources there are in all. */
  readonly size: number;
  /** What the request lacks on each, the nearest to a start first: the reason names the first. */
  readonly rooms: readonly Room[];
  /** How many requests are ahead: what comes free is theirs first. */
  readonly ahead: number;
  /** Its space may hold no more: capacity alone is not enough. */
  readonly isOverQuota: boolean;
  /** How many hosts are shown: the nearest. */
  readonly max?: number;
}

/** More hosts than anybody compares. */
const shownMax = 12;

/** For each shared resource: what is used, what is asked for, and what would have to come free. */
export function FitPicture({ amount, size, rooms, max = shownMax, ...about }: Props) {
  const shown = rooms.slice(0, max);
  return (
    <>
      <ul className="fits" aria-label="What is free on each resource">
        {shown.map((room) => (
          <Host key={room.resource} {...{ room, amount, ...about }} />
        ))}
      </ul>
      <p className="legend">
        <span>
          <i className="look-held" aria-hidden="true" /> in use
        </span>
        {shown.some((room) => isReserved(amount, room)) ? (
          <span>
            <i className="key-kept" aria-hidden="true" /> reserved for others
          </span>
        ) : null}
        <span>
          <i className="key-asked" aria-hidden="true" /> asked for
        </span>
        <span>
          <i className="key-missing" aria-hidden="true" /> missing
        </span>
        <span>
          <i className="key-mark" aria-hidden="true" /> end of its capacity
        </span>
        {shown.some(({ reserved }) => reserved === true) ? (
          <span>
            Reserved for it: requests behind it get only what is left beside it. One of a lower
            share or a higher priority may still go first, and it starts elsewhere if it fits there
            first.
          </span>
        ) : null}
        {size > shown.length ? (
          <span>
            {grouped(shown.length)} of {grouped(size)}: here it can start soonest
          </span>
        ) : null}
      </p>
    </>
  );
}

function isReserved(amount: Amounts, room: Room): boolean {
  return fitsOf(amount, room).some(({ reserved }) => reserved > 0);
}

interface HostProps extends Pick<Props, "ahead" | "isOverQuota"> {
  readonly amount: Amounts;
  readonly room: Room;
}

function Host({ amount, room, ...about }: HostProps) {
  const { resource: name, shares = [] } = room;
  const fits = fitsOf(amount, room);
  return (
    <li>
      <span>
        <Link href={at("resources", name)}>{name}</Link>
        {room.reserved === true ? <small className="kept-here">reserved for it</small> : null}
      </span>
      <div>
        {fits.map((fit) => (
          <FitBar key={fit.dimension} fit={fit} />
        ))}
        <p>
          {room.unfit === undefined ? (
            <WhatIsMissing {...{ fits, shares, room, ...about }} />
          ) : (
            `Not usable: ${room.unfit}.`
          )}
        </p>
      </div>
    </li>
  );
}

function FitBar({ fit }: { fit: Fit }) {
  const { dimension, used, capacity, asked, free, reserved, missing } = fit;
  const whole = Math.max(capacity, used + reserved + asked, 1e-9);
  const width = (amount: number) => ({ width: `${(amount / whole) * 100}%` });
  const words = `${grouped(free)} ${reserved === 0 ? "free" : "left after reservations"}, ${grouped(asked)} needed`;
  return (
    <div className={missing > 0 ? "fit short" : "fit"}>
      <span>{dimension}</span>
      <span className="fit-bar" role="img" aria-label={`${dimension}: ${words}`}>
        <span className="fit-used" style={width(used)} />
        <span className="fit-kept" style={width(reserved)} />
        <span className="fit-asked" style={width(asked - missing)} />
        <span className="fit-missing" style={width(missing)} />
        <i style={{ left: `${(capacity / whole) * 100}%` }} />
      </span>
      <span>{words}</span>
    </div>
  );
}

interface MissingProps extends Pick<HostProps, "room" | "ahead" | "isOverQuota"> {
  readonly fits: readonly Fit[];
  readonly shares: NonNullable<Room["shares"]>;
}

const namedMax = 3;

/** Behind more requests than these, nobody knows whose release it will be. */
const aheadMax = 3;

function WhatIsMissing({ fits, shares, room, ahead, isOverQuota }: MissingProps) {
  const { keptFor, reserved = false } = room;
  const missing = fits.filter((fit) => fit.missing > 0);
  if (missing.length === 0) return "It fits here.";
  // Those ahead take what is reserved for them, so their share does not come free for this one.
  if (missing.every(({ missing: lack, reserved: ahead }) => lack <= ahead)) {
    return (
      <>
        It would fit, but the capacity is reserved for <Holders of={keptFor} by="and" />.
      </>
    );
  }
  const lack = missing.map((fit) => `${grouped(fit.missing)} ${fit.dimension}`).join(" and ");
  const { how, holders } = releasesFor(fits, shares);
  if (holders.length === 0) {
    return keptFor.length === 0 ? (
      `${lack} more than it has in all.`
    ) : (
      <>
        <strong>{lack} must come free</strong> after the start of <Holders of={keptFor} by="and" />.
      </>
    );
  }
  // What is reserved for it, nobody behind it takes; the legend says that those ahead may.
  if (ahead > aheadMax && !reserved) return <strong>{lack} must come free.</strong>;
  const isFirst = ahead === 0 || reserved;
  return (
    <>
      <strong>{lack} must come free</strong>: when{" "}
      <Holders of={holders} by={how === "any" ? "or" : "and"} />{" "}
      {how === "all" && holders.length > 1 ? "release" : "releases"}
      {isFirst ? "" : ", if no request ahead takes it"}
      {isOverQuota ? "; its quota must allow it too" : ""}.
    </>
  );
}

interface HoldersProps {
  readonly of: readonly { readonly id: string; readonly holder: string }[];
  readonly by: "and" | "or";
}

function Holders({ of, by }: HoldersProps) {
  return (
    <>
      {of.slice(0, namedMax).map(({ id, holder }, index) => (
        <span key={id}>
          {index === 0 ? "" : index < of.length - 1 ? ", " : ` ${by} `}
          <Link href={at("leases", id)}>{holder}</Link>
        </span>
      ))}
      {of.length > namedMax ? ` ${by} ${of.length - namedMax} more` : ""}
    </>
  );
}
