import { serverNowMs } from "../data/berth.ts";
import { go, useFilter, usePlace, withFilters } from "../router.ts";
import { fieldText, isMoments, lastHour, momentOf } from "./time-range.ts";

const ages = ["15m", "1h", "24h", "7d"];
const between = "between";

/** A choice of the time that a list is about, stored in the address: ages, or from one moment to another. */
export function PickTime() {
  const place = usePlace();
  const [since, setSince] = useFilter("since", { replace: true });
  const [until, setUntil] = useFilter("until", { replace: true });
  const isBetween = isMoments({ since, until });
  const choose = (value: string) => {
    const start = value === between ? lastHour(serverNowMs()) : value;
    go(withFilters(place, { since: start, until: "" }), { keepScroll: true });
  };
  return (
    <>
      <label className="order">
        Time
        <select
          value={isBetween ? between : since}
          onChange={(event) => choose(event.target.value)}
        >
          <option value="">any time</option>
          {ages.map((age) => (
            <option key={age} value={age}>
              last {age}
            </option>
          ))}
          <option value={between}>from … to …</option>
        </select>
      </label>
      {isBetween ? (
        <>
          <MomentField label="From" at={since} onChange={setSince} />
          <MomentField label="To" at={until} onChange={setUntil} />
        </>
      ) : null}
    </>
  );
}

interface FieldProps {
  readonly label: string;
  readonly at: string;
  readonly onChange: (at: string) => void;
}

/** In the zone of the reader, as all times of the page. */
function MomentField({ label, at, onChange }: FieldProps) {
  return (
    <label className="order moment">
      {label}
      <input
        type="datetime-local"
        step={1}
        value={fieldText(at)}
        onChange={(event) => onChange(momentOf(event.target.value))}
      />
    </label>
  );
}
