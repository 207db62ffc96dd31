// Computes the state that a history of many clients must leave, from the answers that each of them got. Used by history-play.mjs.

/**
 * @typedef {'stored' | 'updated' | 'deleted' | 'restored'} Action
 * @typedef {object} Told one success, as its caller was informed
 * @property {Action} action
 * @property {number} [version] of the entry after it; the answer of a delete has none
 * @property {string} [text] that it wrote
 * @property {string} [patch] the metadata key that it set
 *
 * @typedef {{ version: number, action: Action, preview: string }} Version a row of get_context_history
 * @typedef {{ context_id: number, version: number, action: string }} Change a row of list_changes
 */

export class HistoryModel {
  /** @type {Map<number, Told[]>} */
  acknowledged = new Map()
  /** Refused after an attempt without an answer, which may still have been in progress. @type {Map<number, Told[]>} */
  perhaps = new Map()
  /** Acknowledged but missing. @type {string[]} */
  lost = []
  /** Present without an acknowledgement, or twice. @type {string[]} */
  doubled = []
  /** Any other difference. @type {string[]} */
  wrong = []

  /** @param {number} id @param {Told} told */
  note(id, told) {
    const all = this.acknowledged.get(id) ?? []
    if (told.version !== undefined && all.some(({ version }) => version === told.version))
      this.doubled.push(`two calls were acknowledged for version ${told.version} of entry ${id}`)
    this.acknowledged.set(id, [...all, told])
  }

  /** @param {number} id @param {Told} told */
  suspect(id, told) {
    this.perhaps.set(id, [...(this.perhaps.get(id) ?? []), told])
  }

  /**
   * Compares the versions of an entry with its acknowledgements.
   *
   * @param {number} id
   * @param {readonly Version[]} versions all of them, oldest first
   * @returns {{ text: string, patches: string[] }} what the entry must contain, if it exists
   */
  checkVersions(id, versions) {
    const left = [...(this.acknowledged.get(id) ?? [])]
    const maybe = [...(this.perhaps.get(id) ?? [])]
    /** @param {Told[]} from @param {(told: Told) => boolean} fits */
    const take = (from, fits) => {
      const at = from.findIndex(fits)
      return at < 0 ? undefined : from.splice(at, 1)[0]
    }
    let text = ''
    let before = ''
    const patches = []
    for (const [i, { version, action, preview }] of versions.entries()) {
      if (version !== i + 1) this.wrong.push(`entry ${id} has version ${version} in place ${i + 1}`)
      /** @param {Told} told */
      const fits = (told) =>
        told.action === action &&
        (told.version ?? version) === version &&
        (action === 'deleted' || (told.text ?? text) === preview)
      if (action === 'restored') text = before
      const told = take(left, fits) ?? take(maybe, fits)
      if (told === undefined)
        this.doubled.push(`no call was acknowledged for version ${version} of entry ${id}: ${action} ${preview}`)
      if (action === 'deleted') before = text
      else if (preview !== (told?.text ?? text)) this.wrong.push(`version ${version} of entry ${id} says ${preview}`)
      if (action !== 'deleted') text = preview
      if (told?.patch) patches.push(told.patch)
    }
    for (const { action, version } of left) this.lost.push(`${action} of entry ${id}, version ${version ?? 'unknown'}`)
    return { text, patches }
  }

  /**
   * Compares the changes that a reader of the feed got with the existing versions.
   *
   * @param {string} reader
   * @param {readonly Change[]} seen in the order in which they came
   * @param {ReadonlyMap<number, readonly Version[]>} versions
   */
  checkFeed(reader, seen, versions) {
    const next = new Map()
    for (const { context_id: id, version, action } of seen) {
      const expected = (next.get(id) ?? 0) + 1
      if (version < expected) this.doubled.push(`${reader} saw version ${version} of entry ${id} again`)
      if (version > expected) this.lost.push(`${reader} saw version ${version} of entry ${id} in place of ${expected}`)
      const row = versions.get(id)?.[version - 1]
      const meant =
        row?.action === 'restored'
          ? versions.get(id)?.[version - 2]?.action === 'deleted'
            ? 'stored'
            : 'updated'
          : row?.action
      if (action !== meant)
        this.wrong.push(`${reader} was told ${action} of version ${version} of entry ${id}, which was ${meant}`)
      next.set(id, version)
    }
    for (const [id, all] of versions)
      if ((next.get(id) ?? 0) < all.length)
        this.lost.push(`${reader} saw entry ${id} up to version ${next.get(id) ?? 0} of ${all.length}`)
  }
}
