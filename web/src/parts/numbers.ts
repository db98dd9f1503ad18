/** `12,345`, the same on every machine. */
const format = new Intl.NumberFormat("en");

export function grouped(value: number): string {
  return format.format(value);
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
