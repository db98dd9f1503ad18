import uPlot from "uplot";

/** In pixels of the page. Three expired leases beside thousands that started would not be seen. */
const lowestBar = 2;

/** Bars of what is counted. Only 0 has none. */
export const bars: uPlot.Series.PathBuilder = (chart, series, from, to) => {
  const least = lowestBar * devicePixelRatio;
  const low: (readonly [left: number, base: number, width: number])[] = [];
  const build = uPlot.paths.bars?.({
    ...{ size: [0.7, 28], align: 1 },
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
