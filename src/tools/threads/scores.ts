/** Scores as callers see them (threads contract §6.4, §7); order is by the full value, before this. */

/** Four significant digits. */
export const score = (value: number | null): number | null => (value === null ? null : Number(value.toPrecision(4)))

/** Four decimals. */
export const distance = (value: number | null): number | null =>
  value === null ? null : Math.round(value * 10_000) / 10_000
