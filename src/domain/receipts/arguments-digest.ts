import { SentBytes } from '../json/sent-bytes'
import { jsonText } from '../json/write'
import { sha256Hex } from '../text'

/** Strings longer than this enter as their own digest, so that large arguments are not copied. */
const LARGE = 1000

async function canonical(value: unknown): Promise<string> {
  if (value instanceof SentBytes) {
    const { bytes } = value.decoded
    return `bytes(${bytes === null ? '' : await sha256Hex(bytes)})`
  }
  if (typeof value === 'string' && value.length > LARGE) return `text(${await sha256Hex(value)})`
  if (Array.isArray(value)) return `[${(await inOrder(value, canonical)).join(',')}]`
  if (typeof value !== 'object' || value === null) return jsonText(value) ?? 'null'
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${(await inOrder(members, async ([key, member]) => `${jsonText(key)}:${await canonical(member)}`)).join(',')}}`
}

async function inOrder<T>(items: readonly T[], step: (item: T) => Promise<string>): Promise<string[]> {
  const done: string[] = []
  for (const item of items) done.push(await step(item))
  return done
}

/** The digest of arguments. The order of object keys does not matter. */
export const digestOf = async (args: unknown): Promise<string> => sha256Hex(await canonical(args))
