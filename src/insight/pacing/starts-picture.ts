/** Draws starts per minute as an SVG, one strip for each policy, readable on light and dark. */
import type { Start } from "./herd.ts";
import { perMinute } from "./herd-figures.ts";

export interface Strip {
  readonly policy: string;
  readonly starts: readonly Start[];
}

const width = 720;
const left = 40;
const top = 26;
const height = 110;
const gap = 46;
const minutesMax = 125;
const tickMinutes = 20;

export function startsPicture(strips: readonly Strip[]): string {
  const highest = Math.max(...strips.flatMap(({ starts }) => perMinute(starts)));
  const whole = strips.length * (height + gap) + top;
  const body = strips.map(({ policy, starts }, index) =>
    strip(policy, perMinute(starts), index * (height + gap) + top, highest),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${whole}" role="img"`,
    `  aria-label="Starts per minute" font-family="system-ui, sans-serif" font-size="12"`,
    `  fill="#6b7280">`,
    ...body.flat(),
    "</svg>",
    "",
  ].join("\n");
}

function strip(policy: string, counts: readonly number[], y: number, highest: number): string[] {
  const floor = y + height;
  const step = (width - left - 10) / minutesMax;
  const bars = counts.map((count, minute) => {
    const tall = (count / highest) * height;
    const [x, barTop] = [left + minute * step, floor - tall].map((place) => place.toFixed(1));
    const size = `width="${(step - 0.8).toFixed(1)}" height="${tall.toFixed(1)}"`;
    return count === 0 ? "" : `  <rect x="${x}" y="${barTop}" ${size} fill="#2563eb"/>`;
  });
  const ticks = Array.from({ length: Math.floor(minutesMax / tickMinutes) + 1 }, (_, index) => {
    const minute = index * tickMinutes;
    const x = (left + minute * step).toFixed(1);
    return `  <text x="${x}" y="${floor + 15}" text-anchor="middle">${minute} min</text>`;
  });
  const most = Math.max(...counts);
  return [
    `  <text x="${left}" y="${y - 8}" font-weight="600">${policy}: up to ${most} a minute</text>`,
    `  <line x1="${left}" y1="${floor}" x2="${width - 10}" y2="${floor}" stroke="#9ca3af"/>`,
    `  <text x="${left - 6}" y="${y + 10}" text-anchor="end">${highest}</text>`,
    ...bars.filter((bar) => bar !== ""),
    ...ticks,
  ];
}
