const bars = { unicode: "▁▂▃▄▅▆▇█", ascii: "_.-:=+*#" } as const;

/**
 * Draws samples as one line of text, the oldest first. Each character shows the maximum of several
 * samples, so that a short peak is visible. Only 0 is a blank.
 */
export function spark(
  samples: readonly number[],
  { top, width, unicode }: { top: number; width: number; unicode: boolean },
): string {
  const heights = unicode ? bars.unicode : bars.ascii;
  const each = Math.max(1, Math.ceil(samples.length / width));
  const most = Math.max(1, top, ...samples);
  const cells: string[] = [];
  // Starts at the end, so that the last character always shows the latest samples.
  for (let end = samples.length; end > 0; end -= each) {
    const highest = Math.max(...samples.slice(Math.max(0, end - each), end));
    const level = Math.ceil((highest / most) * heights.length);
    cells.unshift(level === 0 ? " " : (heights[level - 1] ?? ""));
  }
  return cells.join("").padStart(width);
}
