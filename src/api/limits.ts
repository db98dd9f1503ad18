import { ttlMsMin } from "../core/model/field-kinds.ts";
import { userDataLimits } from "../core/model/user-data.ts";

/** Every limit of the API, by name. What goes past one is refused with a message that says so. */
export const limits = {
  bodyBytesMax: 64 * 1024,
  itemsPerRequestMax: 16,
  anyOfMax: 16,
  evidenceLengthMax: 1_024,
  countPerItemMax: 1_000,
  /** Of one dimension: a petabyte in bytes, and far from where numbers lose their last digit. */
  amountMax: 1_000_000_000_000_000,
  /** Long polls end by themselves after this; clients ask again. */
  waitMsMax: 3_600_000,
  openWaitsMax: 20_000,
  /** A team may have thousands of waiting jobs, and others find room beside it. */
  waitsPerSpaceMax: 10_000,
  openFeedsMax: 1_000,
  /** One caller cannot take the feeds from all others. */
  feedsPerCallerMax: 250,
  /** Questions about the past that one caller may have open; 64 of all callers wait. */
  questionsPerCallerMax: 16,
  pageSizeMax: 1_000,
  pageSizeDefault: 100,
  ttlMsMin,
  ttlMsMax: 24 * 3_600_000,
  lifetimeMsMin: 1_000,
  lifetimeMsMax: 30 * 24 * 3_600_000,
  priorityMax: 1_000,
  nameLengthMax: 253,
  /** Names in one query: it stays below the 16 KiB that all headers together may have. */
  namesLengthMax: 8_000,
  holderLengthMax: 256,
  requestIdLengthMax: 128,
  labelsMax: 32,
  labelValueLengthMax: 256,
  userDataKeysMax: userDataLimits.keysMax,
  userDataValueLengthMax: userDataLimits.valueLengthMax,
  noteLengthMax: 16 * 1024,
  stateLengthMax: 64,
  statsStepsMax: 1_000,
  statsWindowMsMax: 366 * 24 * 3_600_000,
  settingsMax: 64,
  /** Claims that one simulation on the server replays; `berth simulate --from` has no such limit. */
  simulatedMax: 200_000,
  variantsMax: 16,
  /** Resources that the settings of all variants of one question make. */
  simulatedResourcesMax: 100_000,
  searchHitsMax: 50,
  searchOfKindMax: 500,
} as const;
