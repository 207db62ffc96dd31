import type { Key } from './isolation'
import type { Said, Turn } from './isolation-model'
import { base64, pngBytes } from './scope'

/** What random calls say: few words, threads, tags, projects and images, the same ones in both orgs, so that they meet. */
export const THREADS = ['alpha', 'beta', 'gamma']
const TAGS = ['red', 'blue', 'decision']
export const WORDS = ['harbor', 'lantern', 'meadow']
export const PROJECTS = ['a', 'b', 'c', 'z']

export type Die = (sides: number) => number

/** @param hashes of the images that are stored */
export class Sayings {
  constructor(
    readonly hashes: readonly string[],
    private readonly firstOrg: string | undefined,
    private readonly now: () => number,
  ) {}

  private orgIndex = (key: Key): number => (key.org === this.firstOrg ? 0 : 1)

  private metadata(die: Die): Record<string, unknown> {
    const soon = new Date(this.now() + 5000 * (1 + die(4))).toISOString()
    const parts = [
      {},
      { project: PROJECTS[die(3)] },
      { project: PROJECTS[die(4)] },
      { audience: 'private' },
      { diary: true },
      { status: 'archived' },
      { expires_at: soon },
      { audience: 'project', project: PROJECTS[die(2)] },
    ]
    return { ...parts[die(8)], ...parts[die(8)], n: die(3) }
  }

  private text = (key: Key, die: Die): string =>
    `${WORDS[die(3)]} ${WORDS[die(3)]} secret${this.orgIndex(key)}x${die(5)}`

  turn(key: Key, die: Die): Turn {
    const tags = die(2) ? { tags: [TAGS[die(3)] as string].sort() } : {}
    const images = die(4) === 0 ? { images: [this.hashes[die(3)] as string] } : {}
    const metadata = die(4) === 0 ? {} : { metadata: this.metadata(die) }
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

  /** Arguments as the wire spells them. */
  wire({ images, ...said }: Said): Record<string, unknown> {
    const shown = images?.map((hash) => ({ data: base64(pngBytes(`image ${this.hashes.indexOf(hash)}`)) }))
    return { ...said, ...(shown ? { images: shown } : {}) }
  }
  turnArguments = ({ thread, ...said }: Turn) => ({ thread_id: thread, ...this.wire(said) })
}

/** The SHA-256 of the images, by which a memory names them. */
export const imageHashes = (): Promise<string[]> =>
  Promise.all(
    [0, 1, 2].map(async (i) => {
      const bytes = pngBytes(`image ${i}`) as Uint8Array<ArrayBuffer>
      return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex()
    }),
  )
