import { Buffer } from 'node:buffer'

/** Bytes as base64 with padding, and back; both runtimes do it natively. */
export const encodeBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')

export const decodeBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))
