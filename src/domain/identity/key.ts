import { withoutTrailing } from '../text'

/** The text of a bearer key: `cp_`, 32 random bytes as base64url, and a checksum, so that a typo never asks the database. */
const FORMAT = /^cp_([A-Za-z0-9_-]{43})([0-9A-Za-z]{6})$/
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export const KEY_BYTES = 32

/** CRC-32 (IEEE 802.3) of ASCII text. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}

function checksum(secret: string): string {
  let rest = crc32(secret)
  let text = ''
  for (let i = 0; i < 6; i++) {
    text = BASE62[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}

/** @param random 32 bytes of randomness, which are the secret */
export function formatKey(random: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...random))
  const secret = withoutTrailing(base64, '=').replaceAll('+', '-').replaceAll('/', '_')
  return `cp_${secret}${checksum(secret)}`
}

/** Whether a text has the form and the checksum of a key; says nothing about whether such a key was ever made. */
export function isWellFormedKey(text: string): boolean {
  const [, secret, sum] = FORMAT.exec(text) ?? []
  return secret !== undefined && checksum(secret) === sum
}

/** Compares two hashes of equal length in a time that does not depend on where they differ. */
export function sameHash(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}
