/** The sentence model of a process next to the Worker, and its state as reported by that process. */

/** The model's vectors, and the size of texts that it reads. */
export interface HostedModel {
  readonly name: string
  /** Vectors of two revisions are never compared. */
  readonly revision: string
  readonly dimensions: number
  /** Code points of a text that the model usually reads. */
  readonly reads?: number
  /** Cosines of unrelated texts, and of a question and its answer, if the model's configuration has them. */
  readonly levels?: { readonly nothing: number; readonly answer: number }
}

export type ModelState =
  | { readonly state: 'loading'; readonly name: string }
  | { readonly state: 'downloading'; readonly name: string; readonly received: number; readonly total: number }
  /** Neither found nor downloaded; the process retries. */
  | { readonly state: 'unavailable'; readonly name: string; readonly problem: string }
  | { readonly state: 'ready'; readonly name: string; readonly runtime: 'native' | 'wasm'; readonly model: HostedModel }

/** The same message without details, for callers without a key: the problem can contain folders and hosts. */
export const insteadInPublic = (hosted: Exclude<ModelState, { readonly state: 'ready' }>): string =>
  hosted.state === 'unavailable'
    ? `The model ${hosted.name} is not available, so "local" is used; commonplace doctor reports why`
    : insteadOf(hosted)

/** Why `local` is used instead of the model, and until when. */
export function insteadOf(hosted: Exclude<ModelState, { readonly state: 'ready' }>): string {
  const { name } = hosted
  switch (hosted.state) {
    case 'loading':
      return `The model ${name} is being loaded; "local" is used until then`
    case 'downloading': {
      const percent = Math.floor((100 * hosted.received) / Math.max(1, hosted.total))
      return `The model ${name} is being downloaded (${percent} %); "local" is used until then`
    }
    case 'unavailable':
      return `The model ${name} is not available, so "local" is used: ${hosted.problem}`
  }
}
