/** Hints on keys are for those who have them: a device that is only touched has none. */
export const hasKeyboard = matchMedia("(any-hover: hover)").matches;
