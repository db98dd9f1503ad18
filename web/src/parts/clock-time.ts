/** One way to write times everywhere: 24 hours, in the zone of the reader. */

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();

const seconds = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const minutes = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const day = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" });
const offset = new Intl.DateTimeFormat("en-GB", { timeZoneName: "shortOffset" });

type Time = string | number | Date;

/** `14:03:07`. */
export function clockTime(at: Time): string {
  return seconds.format(new Date(at));
}

/** `14:03`. */
export function clockMinute(at: Time): string {
  return minutes.format(new Date(at));
}

/** `Mon 16 Nov`. */
export function dayOf(at: Time): string {
  return day.format(new Date(at)).replace(",", "");
}

/** `14:03:07` today, `Mon 16 Nov 14:03:07` on any other day. */
export function momentText(at: Time): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  return isToday ? clockTime(at) : `${dayOf(at)} ${clockTime(at)}`;
}

/** `Mon 16 Nov 14:03 to Tue 17 Nov 14:03`; within a day `Mon 16 Nov 14:03:07 to 14:09:30`. */
export function spanText(from: Time, to: Time): string {
  const [first, last] = [dayOf(from), dayOf(to)];
  return first === last
    ? `${first} ${clockTime(from)} to ${clockTime(to)}`
    : `${first} ${clockMinute(from)} to ${last} ${clockMinute(to)}`;
}

/** `14:15:19–14:24:09` today, with the day before that. */
export function timesOfDay(from: Time, to: Time): string {
  const isToday = new Date(from).toDateString() === new Date().toDateString();
  return isToday ? `${clockTime(from)}–${clockTime(to)}` : spanText(from, to);
}

/** `15:42–15:43` today, with seconds if it is not of full minutes, and with the day before that. */
export function barTimes(from: Time, to: Time): string {
  const isFull = [from, to].every((at) => new Date(at).getSeconds() === 0);
  const write = isFull ? clockMinute : clockTime;
  const isToday = new Date(from).toDateString() === new Date().toDateString();
  return `${isToday ? "" : `${dayOf(from)} `}${write(from)}–${write(to)}`;
}

/** `Europe/Berlin, GMT+1`; `UTC` needs no more. */
export function zoneText(): string {
  const parts = offset.formatToParts(new Date());
  const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  return timeZone === name || timeZone === "UTC" ? timeZone : `${timeZone}, ${name}`;
}
