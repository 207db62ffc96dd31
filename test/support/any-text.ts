import fc from 'fast-check'

const SURROGATES = { first: 0xd800, many: 0x800 }

/**
 * Any character, for `fc.string`. Like `unit: 'binary'`, but without building its table of a million characters in each
 * process.
 */
export const ANY = fc.integer({ min: 0, max: 0x10ffff - SURROGATES.many }).map(
  (place) => String.fromCodePoint(place < SURROGATES.first ? place : place + SURROGATES.many),
  (unit) => {
    const point = typeof unit === 'string' ? unit.codePointAt(0) : undefined
    if (point === undefined || unit !== String.fromCodePoint(point)) throw new Error('not one character')
    return point < SURROGATES.first ? point : point - SURROGATES.many
  },
)
