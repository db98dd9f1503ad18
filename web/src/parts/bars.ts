import uPlot from "uplot";

/** In pixels of the page. Three expired leases beside thousands that started would not be seen. */
const lowestBar = 2;

/** Bars of what is counted, as wide as their step of so many seconds. Only 0 has none. */
export const bars =
  (stepSeconds: () => number | undefined): uPlot.Series.PathBuilder =>
  (chart, series, from, to) => {
    const seconds = stepSeconds();
    const least = lowestBar * devicePixelRatio;
    const low: (readonly [left: number, base: number, width: number])[] = [];
    const build = uPlot.paths.bars?.({
      ...{ size: [1, Number.POSITIVE_INFINITY], align: 1, gap: 1 },
      ...(seconds !== undefined && { disp: { size: { unit: 1, values: () => [seconds] } } }),
      each: (self, index, at, left, top, width, height) => {
        const isLow = height < least && (self.data[index]?.[at] ?? 0) > 0;
        if (isLow) low.push([left, top + height, width]);
      },
    });
    const found = build?.(chart, series, from, to) ?? null;
    if (found?.fill instanceof Path2D) {
      for (const [left, base, width] of low) found.fill.rect(left, base - least, width, least);
    }
    return found;
  };
