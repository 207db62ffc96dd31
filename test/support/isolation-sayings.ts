import type { Key } from './isolation'
import type { Said, Turn } from './isolation-model'
import { base64, pngBytes } from './scope'

/**
 * Values of random calls: few words, threads, tags, projects and images, shared by both organizations so that they
 * coincide.
 */
export const THREADS = ['alpha', 'beta', 'gamma']
const TAGS = ['red', 'blue', 'decision']
export const WORDS = ['harbor', 'lantern', 'meadow']
export const PROJECTS = ['a', 'b', 'c', 'z']

export type Die = (sides: number) => number

/** @param hashes hashes of the stored images */
export class Sayings {
  constructor(
    readonly hashes: readonly string[],
    private readonly firstOrg: string | undefined,
    private readonly now: () => number,
  ) {}

  private orgIndex = (key: Key): number => (key.org === this.firstOrg ? 0 : 1)

  private metadata(die: Die): Record<string, unknown> {
    const soon = new Date(this.now() + 5000 * (1 + die(4))).toISOString()
    const project = { project: PROJECTS[die(4)] }
    const parts = [
      ...[{}, {}, project, project, project, { audience: 'private' }, { audience: 'project', ...project }],
      ...[{ diary: true }, { status: 'archived' }, { expires_at: soon }],
    ]
    return { ...parts[die(10)], ...parts[die(7)], n: die(3) }
  }

  /** One of a few texts, so that stores repeat. */
  private text(key: Key, die: Die): string {
    const n = die(4)
    return `${WORDS[n % 3]} ${WORDS[(n * 2) % 3]} secret${this.orgIndex(key)}x${n}`
  }

  turn(key: Key, die: Die): Turn {
    const tags = die(2) ? { tags: [TAGS[die(3)] as string].sort() } : {}
    const images = die(3) === 0 ? { images: [this.hashes[die(3)] as string] } : {}
    const metadata = die(3) === 0 ? {} : { metadata: this.metadata(die) }
    const source = die(2) ? 'user' : 'agent'
    return { thread: THREADS[die(3)] as string, source, text: this.text(key, die), ...metadata, ...tags, ...images }
  }

  said(key: Key, die: Die): Said {
    const said: Said[] = [
      { text: this.text(key, die) },
      { metadata: this.metadata(die) },
      { metadata_patch: this.metadata(die) },
      { metadata_patch: { plain: die(9) } },
      { metadata_patch: { project: null, audience: null, diary: null } },
      { tags: [TAGS[die(3)] as string] },
      { images: die(2) ? [this.hashes[die(3)] as string] : [] },
      { text: this.text(key, die), metadata_patch: { title: 'a title' } },
    ]
    return said[die(8)] as Said
  }

  /** Arguments in the form of the API. */
  wire({ images, ...said }: Said): Record<string, unknown> {
    const shown = images?.map((hash) => ({ data: base64(pngBytes(`image ${this.hashes.indexOf(hash)}`)) }))
    return { ...said, ...(shown ? { images: shown } : {}) }
  }
  turnArguments = ({ thread, ...said }: Turn) => ({ thread_id: thread, ...this.wire(said) })
}

/** SHA-256 hashes of the images. */
export const imageHashes = (): Promise<string[]> =>
  Promise.all(
    [0, 1, 2].map(async (i) => {
      const bytes = pngBytes(`image ${i}`) as Uint8Array<ArrayBuffer>
      return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex()
    }),
  )
